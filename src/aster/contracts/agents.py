"""Agents: what somebody writes down about one, how a turn runs it, and whom it works for.

An agent is data: a prompt and limits. Nothing in it gives a permission; every limit only ever makes narrower.
"""

from aster.contracts.model import Contract
from aster.contracts.permissions import PermissionMode


class Agent(Contract):
    """An agent as it is kept. `tools` are the names (or shell patterns) of what it may call, None is everything there
    is; `disallowed_tools` are taken away from that. `skills` are those it is told to look at first."""

    name: str
    description: str
    system_prompt: str
    model: str | None = None
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    permission_mode: PermissionMode | None = None
    max_turns: int | None = None
    skills: tuple[str, ...] = ()


class Profile(Contract):
    """An agent as a turn runs it, settled when the turn begins.

    A tool is within reach if its name fits a pattern in each list of `within` and none of `without`: those of the
    agent, and those of everybody it works for. `label` is what grants are for: the agent, after those it works for.
    One with a `cell` is shut in there: in a directory of its own with this name, without a network, memory and anything
    else of the user's, and nobody is asked for it; `max_usd` is the most its turn may spend.
    """

    name: str
    label: str
    prompt: str = ""
    within: tuple[tuple[str, ...], ...] = ()
    without: tuple[str, ...] = ()
    max_turns: int | None = None
    cell: str = ""
    max_usd: float | None = None


class Parent(Contract):
    """The call that a sub-agent's turn was begun for. `agents` are those it works for, the outermost first;
    `home_task_id` and `root_turn_id` are where a person began it all. With `wake`, the end of one in the background
    starts a turn of the task by itself if none runs. Of a turn of a team's `member`, `team_id` is the team,
    and so it is of whoever works for one.
    `worktree` is the id of the one that the call was made in: the sub-agent works there too."""

    task_id: str
    turn_id: str
    tool_call_id: str
    home_task_id: str
    root_turn_id: str
    depth: int
    agents: tuple[str, ...]
    background: bool = False
    wake: bool = False
    team_id: str = ""
    member: str = ""
    worktree: str = ""


class Child(Contract):
    """A sub-agent that a call was handed to; `result` is what it said at its end."""

    turn_id: str
    task_id: str
    agent: str
    status: str = "running"
    result: str | None = None
