"""The agent's list of what is still to do: replaced whole by every call, shown to people as it stands."""

from typing import Any

from aster.contracts.events import TodoItem, TodoUpdate
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST_ITEMS = 20
_BOX = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


class TodoWrite(Tool):
    own_notes = True
    setter = True
    untrusted_output = False
    definition = ToolDef(
        name="todo_write",
        description=(
            "Keep a list of the steps of a longer piece of work: nothing is forgotten, and the person can see "
            "where you are. Every call replaces the whole list. Mark one step in_progress when you begin it and "
            f"completed as soon as it is done. At most {MOST_ITEMS} steps. Not for work of one or two steps."
        ),
        input_schema=input_schema(
            ("todos",),
            todos={
                "type": "array",
                "maxItems": MOST_ITEMS,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": 500,
                            "description": "The step, as an order: Run the tests.",
                        },
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        "active_form": {
                            "type": "string",
                            "maxLength": 500,
                            "description": "The step while it is under way: Running the tests.",
                        },
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
                "description": "The whole list, in order.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        todos: list[dict[str, Any]] = given["todos"]
        if any(not todo["content"].strip() for todo in todos):
            return _refused("a step has no text")
        if sum(todo["status"] == "in_progress" for todo in todos) > 1:
            return _refused("more than one step is in_progress; do one after the other")
        items = tuple(TodoItem(**todo) for todo in todos)
        context.record(TodoUpdate(todos=items))
        return ToolOutcome.text(rendered(items), {"todos": len(items)})


def rendered(items: tuple[TodoItem, ...]) -> str:
    done = sum(item.status == "completed" for item in items)
    lines = [f"{_BOX[item.status]} {item.content}" for item in items]
    return "\n".join([*lines, f"({done}/{len(items)} completed)"]) if items else "The list is empty."


def _refused(problem: str) -> ToolOutcome:
    return ToolOutcome.error(f"Error: {problem}. The list was left as it was.", reason="invalid_input")
