"""How a turn runs an agent: its words, and limits that are never wider than those of whoever it works for."""

from typing import Final

from aster.contracts.agents import Agent, Parent, Profile
from aster.contracts.permissions import PermissionMode
from aster.contracts.turn import TurnRequest
from aster.infra.settings import Settings

MAIN: Final = "main"
"""The agent that answers where no other is named."""
GENERAL: Final = "general"
"""A sub-agent without a name of its own."""
SPAWN: Final = "spawn_agent"
WORKFLOW: Final = "run_workflow"

_NARROWEST: Final[tuple[PermissionMode, ...]] = ("plan", "auto", "default", "bypass")

_GENERAL_PROMPT: Final = """\
You are a capable and careful assistant with tools. Read before you change, check what you did, and when a tool fails,
read the error and try another way instead of repeating the same call."""

_AT_WORK: Final = """\
Another agent has handed this piece of work to you. You see nothing of its conversation, and it sees nothing of what you
do: your last message is all it gets. So end with a complete answer that stands on its own: what you found or did, where
(paths, addresses, lines), what you could not do, and nothing else. Do what was asked and no more."""


def narrower(mode: PermissionMode, other: PermissionMode | None) -> PermissionMode:
    """The more careful of two modes."""
    if other is None or _NARROWEST.index(mode) <= _NARROWEST.index(other):
        return mode
    return other


def profile_of(agent: Agent) -> Profile:
    """The agent as it answers a person."""
    return Profile(
        name=agent.name,
        label=agent.name,
        prompt=_prompt(agent),
        within=() if agent.tools is None else (agent.tools,),
        without=agent.disallowed_tools,
        max_turns=agent.max_turns,
    )


def child_profile(agent: Agent | None, request: TurnRequest, parent: Parent, settings: Settings) -> Profile:
    """The agent as it works for another, whose turn was asked for like this. It reaches nothing that one does not."""
    above = request.agent
    within = () if agent is None or agent.tools is None else (agent.tools,)
    without = () if agent is None else agent.disallowed_tools
    if parent.depth >= settings.subagent_depth:
        without = (*without, SPAWN, WORKFLOW)
    most = min(filter(None, (settings.subagent_max_turns, agent and agent.max_turns, above and above.max_turns)))
    name = GENERAL if agent is None else agent.name
    own = _GENERAL_PROMPT if agent is None else _prompt(agent)
    return Profile(
        name=name,
        label="/".join((*parent.agents, name)),
        prompt=f"{own}\n\n{_AT_WORK}",
        within=(*(above.within if above else ()), *within),
        without=(*(above.without if above else ()), *without),
        max_turns=most,
    )


def chain_of(request: TurnRequest) -> tuple[str, ...]:
    """The agents from the one that answers the person down to the one of this turn."""
    name = MAIN if request.agent is None else request.agent.name
    return (name,) if request.parent is None else (*request.parent.agents, name)


def _prompt(agent: Agent) -> str:
    if not agent.skills:
        return agent.system_prompt
    return f"{agent.system_prompt}\n\nSkills to load first when they fit the work: {', '.join(agent.skills)}."
