"""Projects for a model: one tool for all there is to do with them, so that it costs one place in the prompt."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from aster.contracts.errors import EngineError
from aster.contracts.projects import Project, ProjectNode
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.contracts.work import WorkDraft, WorkEdit
from aster.utility_directory.project_room import ProjectRoom
from aster.utility_directory.tool import Input, Tool, ToolContext, UnfitInput, input_schema
from aster.utility_directory.work_board import line

LISTED: Final = 50
_LOOKS: Final = frozenset(("list", "get", "status", "task_next", "task_list"))
_TEXT: Final = {"type": "string", "maxLength": 20_000}
_ID: Final = {"type": "string", "minLength": 1, "maxLength": 200}


class ManageProjects(Tool):
    own_notes = False
    definition = ToolDef(
        name="manage_projects",
        description=(
            "Work over many turns: its items, results and notes outlive conversations. The project is the one this task"
            " works for, unless you name another. create (title; the same title is the same project), list, get,"
            " switch (this task works for it), exit, update, delete (archives), resume, status; task_add (items),"
            " task_update (item_id), task_decompose (item_id, items: parts, done before it), task_next, task_list;"
            " artifact_add (kind, content), event_log (message); advance (the next item is done in a turn of its own,"
            " in the background; until: blocked goes on by itself). Advance only when the person wants it."
        ),
        input_schema=input_schema(
            ("action",),
            action={
                "type": "string",
                "description": "What to do.",
                "enum": [
                    *("create", "list", "get", "switch", "exit", "update", "delete", "resume", "status"),
                    *("task_add", "task_update", "task_decompose", "task_next", "task_list"),
                    *("artifact_add", "event_log", "advance"),
                ],
            },
            project={**_ID, "description": "Its id or title."},
            title={"type": "string", "minLength": 1, "maxLength": 200, "description": "create, update."},
            brief={**_TEXT, "description": "What it is about."},
            notes={**_TEXT, "description": "What to know when working on it."},
            items={
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "description": "All are made, or none.",
                "items": {
                    "type": "object",
                    "properties": {
                        "subject": {"type": "string", "minLength": 1, "maxLength": 300},
                        "description": _TEXT,
                        "name": {**_ID, "description": "For blocked_by in this call."},
                        "blocked_by": {"type": "array", "items": _ID, "maxItems": 100},
                        "priority": {"type": "integer", "minimum": -100, "maximum": 100},
                    },
                    "required": ["subject"],
                    "additionalProperties": False,
                },
            },
            item_id={**_ID, "description": "An item of its board."},
            subject={"type": "string", "minLength": 1, "maxLength": 300, "description": "task_update."},
            description={**_TEXT, "description": "task_update."},
            remove={"type": "boolean", "description": "task_update: take it off the board."},
            kind={"type": "string", "enum": ["file", "url", "note", "tool_call"], "description": "Of an artifact."},
            name={"type": "string", "maxLength": 200, "description": "Of an artifact."},
            content={"type": "string", "maxLength": 100_000, "description": "A path, an address, or words."},
            message={"type": "string", "maxLength": 2000, "description": "event_log: left out, it is shown."},
            until={"type": "string", "enum": ["step", "blocked"], "description": "One item, or on by itself."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        action = given.get("action")
        looks = action in _LOOKS or (action == "event_log" and not given.get("message"))
        return Effect.PURE if looks else Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        room = context.projects
        if room is None:
            return ToolOutcome.error("Error: there are no projects here.", reason="no_projects")
        try:
            return await _ACTIONS[given["action"]](room, given)
        except UnfitInput as unfit:
            return ToolOutcome.error(f"Error: {unfit}", reason="invalid_input")
        except EngineError as error:
            reason = (error.details or {}).get("reason", error.code.lower())
            return ToolOutcome.error(f"Error: {error.message}", reason=reason)


async def _create(room: ProjectRoom, given: Input) -> ToolOutcome:
    made, new = await room.create(_given(given, "title"), given.get("brief", ""), given.get("notes", ""))
    said = "Made" if new else "There is one of this title already:"
    return _about(f"{said} {one_line(made)} Switch to it to work for it in this task.", made)


async def _list(room: ProjectRoom, given: Input) -> ToolOutcome:
    del given
    found = await room.projects(LISTED)
    return ToolOutcome.text("\n".join(map(one_line, found)) or "There are no projects.")


async def _get(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    return _about(f"{one_line(project)}\n{await room.brief(project)}", project)


async def _switch(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.switch(await room.find(_given(given, "project")))
    return _about(f"This task works for {one_line(project)}\n{await room.brief(project)}", project)


async def _exit(room: ProjectRoom, given: Input) -> ToolOutcome:
    del given
    left = await room.exit()
    return ToolOutcome.text("This task works for no project." if left is None else f"Left {one_line(left)}")


async def _update(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    now = await room.edit(project, given.get("title"), given.get("brief"), given.get("notes"))
    return _about(f"Now {one_line(now)}", now)


async def _delete(room: ProjectRoom, given: Input) -> ToolOutcome:
    now = await room.set(await room.find(_given(given, "project")), "ARCHIVED")
    return _about(f"Archived {one_line(now)} Only a person can delete it for good.", now)


async def _resume(room: ProjectRoom, given: Input) -> ToolOutcome:
    now = await room.set(await room.find(given.get("project")), "ACTIVE")
    return _about(f"Now {one_line(now)}", now)


async def _task_add(room: ProjectRoom, given: Input) -> ToolOutcome:
    return await _added(room, await room.find(given.get("project")), given, "")


async def _task_decompose(room: ProjectRoom, given: Input) -> ToolOutcome:
    return await _added(room, await room.find(given.get("project")), given, _given(given, "item_id"))


async def _added(room: ProjectRoom, project: Project, given: Input, parent_id: str) -> ToolOutcome:
    drafts = msgspec.convert(_given(given, "items"), list[WorkDraft])
    made = await room.add(project, drafts, parent_id)
    return _about("\n".join(line(item) for item in made), project, items=[item.item_id for item in made])


async def _task_update(room: ProjectRoom, given: Input) -> ToolOutcome:
    edit = WorkEdit(subject=given.get("subject"), description=given.get("description"))
    now = await room.change(_given(given, "item_id"), edit, delete=bool(given.get("remove")))
    return ToolOutcome.text(line(now), {"items": [now.item_id]})


async def _task_next(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    ready = [node.item for node in await room.nodes(project) if node.item.ready]
    first = max(ready, key=lambda item: item.priority, default=None)
    return _about("Nothing is ready." if first is None else line(first), project)


async def _task_list(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    nodes = await room.nodes(project)
    return _about("\n".join(map(_node, nodes[:200])) or "It has no items.", project)


async def _artifact_add(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    kind, content = _given(given, "kind"), _given(given, "content")
    kept = await room.keep(project, kind, content, given.get("name", ""), given.get("item_id", ""))
    return _about(f"Kept as {kept.artifact_id}.", project, artifact_id=kept.artifact_id)


async def _event_log(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    if given.get("message"):
        await room.log(project, given["message"])
        return _about("Noted.", project)
    found = await room.records(project, LISTED)
    return _about("\n".join(f"{one.kind}: {one.message}" for one in found), project)


async def _advance(room: ProjectRoom, given: Input) -> ToolOutcome:
    project = await room.find(given.get("project"))
    begun = await room.advance(project, given.get("until", "step"))
    text = f"{begun.item_id} is worked on in the task {begun.task_id}; action status shows how it stands."
    return _about(text, project, advance_id=begun.advance_id, task_id=begun.task_id)


def one_line(project: Project) -> str:
    reason = f": {project.reason}" if project.reason else ""
    return f"{project.project_id} [{project.status}{reason}] {project.title}."


def _node(node: ProjectNode) -> str:
    return f"{'  ' * node.depth}{line(node.item)}"


def _about(text: str, project: Project, **more: Any) -> ToolOutcome:
    return ToolOutcome.text(text, {"project_id": project.project_id, "status": project.status, **more})


def _given(given: Input, name: str) -> Any:
    if not given.get(name):
        raise UnfitInput(f"`{name}` is needed for {given['action']}.")
    return given[name]


_ACTIONS: Final[dict[str, Callable[[ProjectRoom, Input], Awaitable[ToolOutcome]]]] = {
    "create": _create,
    "list": _list,
    "get": _get,
    "switch": _switch,
    "exit": _exit,
    "update": _update,
    "delete": _delete,
    "resume": _resume,
    "status": _get,
    "task_add": _task_add,
    "task_update": _task_update,
    "task_decompose": _task_decompose,
    "task_next": _task_next,
    "task_list": _task_list,
    "artifact_add": _artifact_add,
    "event_log": _event_log,
    "advance": _advance,
}
