"""What an agent can reach: a tool that its profile leaves out is not offered, and no call gets to it by any name."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from aster.contracts.agents import Profile
from aster.contracts.tools import ToolDef, ToolOutcome
from aster.contracts.turn import TurnState
from aster.engine_core.connectors.on_demand import CALL, FIND
from aster.infra.settings import Settings
from aster.utility_directory.tool_runtime import Prepared

COMMAND: Final = "bash"
COMMANDS: Final = frozenset(("create_skill", "use_skill"))
"""Tools that run what the model writes, as `bash` does."""


def permits(agent: Profile | None, tool: str) -> bool:
    """Whether an agent may call a tool of this name. One that may run no commands may run none as a skill either."""
    if agent is None:
        return True
    inside = all(_fits(tool, patterns) or _leads_to(tool, patterns) for patterns in agent.within)
    taken = _fits(tool, agent.without) or (tool in COMMANDS and _fits(COMMAND, agent.without))
    return inside and not taken


def reached(agent: Profile | None, definitions: tuple[ToolDef, ...]) -> tuple[ToolDef, ...]:
    """What an agent is offered of these tools."""
    if agent is None or not (agent.within or agent.without):
        return definitions
    return tuple(tool for tool in definitions if permits(agent, tool.name))


def held_back(agent: Profile | None, prepared: Prepared) -> bool:
    """Whether a call that an agent may make is, in truth, the call of a tool that is taken away from it."""
    meant, declared = prepared.tool.definition.name, prepared.declared
    if agent is None or declared is None:
        return False
    return _fits(meant, agent.without) or (declared.source != "catalog" and not permits(agent, meant))


def out_of_reach(tool: str, names: Iterable[str]) -> ToolOutcome:
    listed = ", ".join(names) or "none"
    return ToolOutcome.error(f"Unknown tool: {tool}. The tools are: {listed}.", reason="unknown_tool")


def most_steps(state: TurnState, settings: Settings) -> int:
    """The most model calls a turn may make: what the operator allows, or less if its agent is kept shorter."""
    agent = state.request.agent
    return min(settings.max_turns, agent.max_turns) if agent is not None and agent.max_turns else settings.max_turns


def _leads_to(tool: str, patterns: Iterable[str]) -> bool:
    """Connected tools (`server.action`) may only be found and called through others; those do nothing by themselves,
    and the tool that is called in the end has to be within reach too."""
    return tool in (FIND, CALL) and any("." in pattern for pattern in patterns)


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
