"""Tools that a client brings along and runs itself: what the model is offered of them, and what becomes of a call.

The engine never runs one. A call of it parks the turn as a request of kind `client_tool`, and the answer to that
request is its result: text from outside, like that of any tool. A client's tool never stands in for one of ours: with
ours offered beside it, it must have another name; with ours left out, no call reaches them by any name. A connected
tool that providers would be told by the same name (`a.b` goes out as `a__b`) is left out for the turn.
"""

import re
from typing import Final

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.contracts.tools import Effect, ToolCall, ToolDef, ToolOutcome
from aster.contracts.turn import TurnRequest
from aster.engine_core.agents import reach
from aster.engine_core.orders import Order
from aster.herald.tool_names import wire_name
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.tool import Input, Tool, ToolContext
from aster.utility_directory.tool_runtime import Prepared, ToolRuntime

MOST_TOOLS: Final = 128
MOST_CHARS: Final = 256_000
KIND: Final = "client_tool"

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ClientTool(Tool):
    """A tool of the client; neighbours are handed over together."""

    source = "client"

    def __init__(self, definition: ToolDef) -> None:
        self.definition = definition

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return ToolOutcome.error("The client runs this tool, not the engine.", reason="client_tool")


def check(asked: Order | TurnRequest, registry: Registry) -> None:
    """Refuse tools that no model could be offered, or that would hide one of ours."""
    if not asked.tools:
        return
    if len(asked.tools) > MOST_TOOLS:
        raise unfit("tools", f"holds {len(asked.tools)} tools; at most {MOST_TOOLS} are taken")
    if sum(len(encode(tool)) for tool in asked.tools) > MOST_CHARS:
        raise unfit("tools", f"is longer than {MOST_CHARS} characters")
    seen: set[str] = set()
    for at, tool in enumerate(asked.tools):
        field = f"tools.{at}.name"
        if _NAME.fullmatch(tool.name) is None:
            raise unfit(field, "has to be 1 to 64 letters, digits, `_` or `-`")
        if tool.name in seen:
            raise unfit(field, f"is {tool.name!r} for the second time")
        if asked.own_tools and registry.get(tool.name) is not None:
            raise unfit(field, f"is {tool.name!r}, which is a tool of the engine; give yours another name")
        seen.add(tool.name)


def offered(request: TurnRequest, registry: Registry, places: frozenset[str] = frozenset()) -> tuple[ToolDef, ...]:
    """What the model is told of tools in a turn; `places` say which of ours it is told of besides the usual ones."""
    if not request.own_tools:
        return request.tools
    ours = reach.reached(request.agent, registry.told(places))
    if not request.tools:
        return ours
    theirs = {tool.name for tool in request.tools}
    return (*(tool for tool in ours if wire_name(tool.name) not in theirs), *request.tools)


def prepare(request: TurnRequest, runtime: ToolRuntime, call: ToolCall) -> Prepared | ToolOutcome:
    """A call ready to be handed over or to run, or what is wrong with it. A client checks the input of its own."""
    tool = next((tool for tool in request.tools if tool.name == call.name), None)
    if tool is not None:
        return Prepared(call, ClientTool(tool), call.input)
    if request.own_tools and reach.permits(request.agent, call.name):
        prepared = runtime.prepare(call)
        if isinstance(prepared, ToolOutcome) or not reach.held_back(request.agent, prepared):
            return prepared
    names = [tool.name for tool in offered(request, runtime.registry)]
    return reach.out_of_reach(call.name, names)


def unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}.",
        {"fields": [{"field": field, "problem": problem}]},
    )
