"""Opening tools: what few conversations need is not told to every model, it is asked for.

The tool does nothing itself. That it was called stands in the conversation, and by that the engine tells the model of
more from its next step on, also after a crash and in later turns of the task.
"""

from collections.abc import Mapping
from typing import Final

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.places import BOARD, CLOSED, FREE, PROJECTS, REPOSITORY
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

NAME: Final = "open_tools"
OPENED: Final[Mapping[str, tuple[str, ...]]] = {
    "work": (BOARD, REPOSITORY),
    "team": (BOARD, REPOSITORY, FREE),
    "projects": (PROJECTS,),
}
"""What each word opens."""
_ABOUT: Final = {
    "work": "`work`: a board of tasks with dependencies that outlives the conversation, and git worktrees for them",
    "team": "`team`: agents that work beside you for longer and write to each other; brings `work`",
    "projects": "`projects`: work over many turns, with its results and notes",
}


class OpenTools(Tool):
    own_notes = True
    untrusted_output = False
    places = frozenset((CLOSED,))

    def __init__(self, kinds: Mapping[str, tuple[str, ...]]) -> None:
        """`kinds`: the words that open something, with the tools that each stands for."""
        self._kinds = kinds
        self.definition = ToolDef(
            name=NAME,
            description=(
                "Brings tools that are not listed, for the rest of this conversation. Call it when the person wants"
                f" what they are for. {'; '.join(_ABOUT[kind] for kind in kinds)}."
            ),
            input_schema=input_schema(
                ("kinds",),
                kinds={
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string", "enum": list(kinds)},
                    "description": "What to bring.",
                },
            ),
        )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        names = dict.fromkeys(name for kind in given["kinds"] for name in self._kinds[kind])
        return ToolOutcome.text(f"From your next step on you have {', '.join(names)}, where they fit the place.")
