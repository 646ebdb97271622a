"""Handing work to another agent. The call never runs here: the engine begins a turn for it, and its last words are the
outcome. Nothing is permitted by it that is not permitted to whoever calls it."""

from collections.abc import Iterable

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

NAME = "spawn_agent"
_PROMPT_CHARS = 100_000
_WHAT = (
    "Hand a piece of work to another agent, which starts with nothing but your prompt, works in the same files, and"
    " answers with one message. Use it for work that is whole in itself and would fill your context: searching many"
    " files, research, a separate change, a second opinion. Several calls in one step work side by side. Say all it"
    " needs to know: the goal, the paths, what you know already, and what the answer has to contain. It can do nothing"
    " that you may not do."
)


class SpawnAgent(Tool):
    """What another agent says comes from a model that may have read anything, so it counts as from outside."""

    delegates = True
    own_notes = True

    def __init__(self, agents: Iterable[tuple[str, str]] = ()) -> None:
        listed = "".join(f"\n- {name}: {' '.join(what.split())}" for name, what in agents)
        self.definition = ToolDef(
            name=NAME,
            description=f"{_WHAT}{' The agents are:' + listed if listed else ''}",
            input_schema=input_schema(
                ("prompt",),
                prompt={
                    "type": "string",
                    "minLength": 1,
                    "maxLength": _PROMPT_CHARS,
                    "description": "The work, complete in itself.",
                },
                agent={
                    "type": "string",
                    "maxLength": 64,
                    "description": "The agent's name; left out, one with your own tools.",
                },
                background={
                    "type": "boolean",
                    "description": "Go on without waiting; you are told when it has ended, and agent_output shows what"
                    " it said.",
                },
                wake={
                    "type": "boolean",
                    "description": "With background: if you have answered by the time it ends, begin again by yourself"
                    " instead of waiting for the person's next message.",
                },
            ),
        )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return ToolOutcome.error("Agents are begun by the turn, not by the tool.", reason="not_here")
