"""The slash command for the goal of a task: what it is to reach before a turn ends by itself."""

from typing import TYPE_CHECKING, Final

from aster.cli.chat.command import Command
from aster.cli.screen.clean import one_line
from aster.contracts.errors import EngineError, ErrorCode

if TYPE_CHECKING:
    from aster.cli.chat.session import Session

CLEAR: Final = frozenset(("clear", "stop", "off", "reset", "none", "cancel"))
_SHOWN: Final = 400


async def _goal(session: "Session", argument: str) -> bool:
    """Set a goal, show it, or clear it; the next turn is held to it."""
    goals, task_id = session.client.goals, session.task_id
    try:
        if argument.casefold() in CLEAR:
            await goals.clear(task_id)
            session.surface.notice("The task has no goal any more.")
            return True
        goal = await (goals.put(task_id, argument) if argument else goals.get(task_id))
    except EngineError as error:
        if error.code not in (ErrorCode.NOT_FOUND, ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST):
            raise
        begun = error.code is not ErrorCode.TASK_NOT_FOUND
        session.surface.notice(error.message if begun else "Say something first: a goal belongs to a task.")
        return True
    why = f" ({one_line(goal.reason, _SHOWN)})" if goal.reason else ""
    session.surface.notice(f"Goal [{goal.outcome}]: {one_line(goal.goal, _SHOWN)}{why}")
    return True


COMMANDS = {
    "goal": Command("/goal [WHAT]", "what the task is to reach; /goal clear takes it away", _goal),
}
