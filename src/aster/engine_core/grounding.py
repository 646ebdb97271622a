"""Where the tools of a turn work: in the cell of an agent that is shut in, in the worktree of the item that its task
has claimed, or in the workspace of the person's task.

In which worktree that is, is looked up when it may have changed; whether it is as it should be, each time tools run.
One that is not holds every call up that has to do with files: there is no other place to fall back on.
"""

from typing import Final

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.sandbox.paths import Workspace
from aster.utility_directory.places import BOARD, REPOSITORY
from aster.utility_directory.tool import Tool

ASTRAY: Final = (
    "Not run: your work is done in the worktree {name}, and {problem}. Nothing is done elsewhere in its place. A person"
    " has to put that right; release the item, or ask."
)
ABROAD: Final = frozenset(
    ("task_list", "task_get", "bash_output", "bash_kill", "agent_output", "memory_search", "memory_write")
)
"""Tools that have nothing to do with files, besides those that only note something or ask a person."""


async def ground(turn: Turn, services: Services) -> Workspace:
    """Where the tools of a turn work."""
    agent = turn.state.request.agent
    if agent is not None and agent.cell:
        turn.moved = False
        return await services.workspaces.cell(agent.cell)
    base = await services.workspaces.of(*turn.home)
    await settle(turn, services)
    if turn.tree is None:
        return base
    problem = await services.worktrees.problem(turn.tree, base)
    turn.astray = "" if problem is None else ASTRAY.format(name=turn.tree.name, problem=problem)
    return services.worktrees.workspace(turn.tree, base)


async def look_around(turn: Turn, services: Services) -> None:
    """What a turn has to know of its workspace before its first step, if there may be work on a board."""
    busy = BOARD in turn.places
    if (busy or services.settings.work_tools == "on") and services.workspaces.repository(*turn.home):
        turn.places |= {REPOSITORY}
    if busy or services.settings.work_tools != "auto":
        await settle(turn, services)


async def settle(turn: Turn, services: Services) -> None:
    """Find out in which worktree a turn works, where that may have changed, and let nobody remove it meanwhile."""
    if not turn.moved:
        return
    request = turn.state.request
    tree = await services.worktrees.of_turn(turn.key, turn.turn_id)
    inherited = "" if request.parent is None else request.parent.worktree
    turn.tree, turn.astray = tree, ""
    try:
        if tree is not None or inherited:
            worktree_id = inherited if tree is None else tree.worktree_id
            turn.tree = tree or await services.worktrees.get(turn.key.user_id, worktree_id)
            turn.tree = await services.worktrees.enter(turn.key, turn.turn_id, worktree_id)
    except EngineError as error:
        if turn.tree is None or error.code is not ErrorCode.WORKTREE_CONFLICT:
            raise
    turn.moved = False


def held_up(turn: Turn, tool: Tool) -> ToolOutcome | None:
    """Why a call is not made: its turn works in a worktree that is not as it should be, and nowhere else. What has
    nothing to do with files goes on."""
    if not turn.astray or tool.own_notes or tool.asks_human or tool.definition.name in ABROAD:
        return None
    return ToolOutcome.error(turn.astray, reason="worktree_broken", failure=OutcomeClass.DIAGNOSTIC)
