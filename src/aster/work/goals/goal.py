"""Setting, seeing and clearing the goal of a task. It is said on the task's thread, and kept by what is said there."""

from typing import Final

from aster.brain.goals import Goal
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import GoalStatus
from aster.infra.ids import new_id
from aster.infra.secrets import Secrets

MOST_CHARS: Final = 4000


async def put(brain: Brain, secrets: Secrets, key: ThreadKey, text: str) -> Goal:
    """Give a task a goal, in the place of the one it has."""
    said = secrets.clean(text.strip(), "person")
    if not said or len(said) > MOST_CHARS:
        problem = f"has to be 1 to {MOST_CHARS} characters"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Correct this and send it again: `goal` {problem}.",
            {"fields": [{"field": "goal", "problem": problem}]},
        )
    await _say(brain, key, GoalStatus(goal=said, goal_id=new_id("goal"), status="active"))
    return await shown(brain, key)


async def shown(brain: Brain, key: ThreadKey) -> Goal:
    """The goal of a task; raises `EngineError` when it has none."""
    goal = await brain.goals.of(key)
    if goal is not None:
        return goal
    if await brain.thread(key) is None:
        raise _no_task(key)
    raise EngineError(ErrorCode.NOT_FOUND, f"The task {key.task_id!r} has no goal.", {"task_id": key.task_id})


async def clear(brain: Brain, key: ThreadKey) -> None:
    """Take the goal of a task away."""
    goal = await shown(brain, key)
    await _say(brain, key, GoalStatus(goal=goal.goal, goal_id=goal.goal_id, status="cleared"))


async def _say(brain: Brain, key: ThreadKey, event: GoalStatus) -> None:
    try:
        await brain.append(key, None, [event], guard=Present())
    except Conflict:
        raise _no_task(key) from None


def _no_task(key: ThreadKey) -> EngineError:
    message = f"There is no task {key.task_id!r}."
    return EngineError(ErrorCode.TASK_NOT_FOUND, message, {"task_id": key.task_id})
