"""Tools of connected servers on demand: one tool that finds them, one that calls what was found.

What they say of themselves never changes, so that a prompt begins the same however many tools are connected.
"""

from typing import Final

from aster.asset_directory.index import ActionIndex
from aster.contracts.model import encode
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Meant, Tool, ToolContext, UnfitInput, input_schema

FIND: Final = "find_tools"
CALL: Final = "call_tool"
_SHOWN: Final = 5
_MOST: Final = 20


class FindTools(Tool):
    source = "mcp"
    definition = ToolDef(
        name=FIND,
        description="Finds tools of connected services (mail, calendars, issue trackers, databases and the like) by"
        " what they do. More tools are connected than are listed here: look here before you say that you cannot do"
        f" something. What it finds is called with {CALL}.",
        input_schema=input_schema(
            ("query",),
            query={"type": "string", "description": "What the tool should do, in a few words.", "minLength": 1},
            limit={
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST,
                "description": f"How many; usually {_SHOWN}.",
            },
        ),
    )

    def __init__(self, index: ActionIndex) -> None:
        self._index = index

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        found = await self._index.search(given["query"], given.get("limit", _SHOWN))
        if not found:
            return ToolOutcome.text(f"Nothing fits. {len(self._index)} tools are connected; try other words.")
        listed = "\n\n".join(
            f"{tool.name}\n{tool.description}\ninput: {encode(tool.input_schema).decode()}" for tool in found
        )
        return ToolOutcome.text(listed)


class CallTool(Tool):
    source = "mcp"
    definition = ToolDef(
        name=CALL,
        description=f"Calls a tool that {FIND} has found, with the input it describes.",
        input_schema=input_schema(
            ("name", "input"),
            name={"type": "string", "description": f"The tool's name as {FIND} shows it, such as `mail.send`."},
            input={"type": "object", "description": "What the tool takes."},
        ),
    )

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def stands_for(self, given: Input) -> Meant:
        name = given["name"]
        if name not in self._names:
            raise UnfitInput(f"there is no connected tool named {name!r}; look for one with {FIND}")
        return Meant(name, given["input"])

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return ToolOutcome.error(f"{CALL} stands for another tool and does nothing itself.", reason="not_callable")
