"""The goal of a task: what it is to reach before a turn of it ends by itself."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from aster.brain.goals import Goal, Standing
from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.infra.clock import iso_ms
from aster.server.bodies import PathTaskId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.visit import KEYED, Serving, Visiting
from aster.work.goals import goal as goals

router = APIRouter(prefix="/tasks/{task_id}/goal", tags=["work"], dependencies=KEYED)

_MEANT = (ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST)
Outcome = Literal["active", "achieved", "failed", "blocked", "limit", "error", "deferred"]


class GoalBody(Part):
    goal: Text = Field(
        min_length=1, max_length=goals.MOST_CHARS, description="What is to be true when the work is done."
    )


class GoalAnswer(BaseModel):
    """A goal, and what came of it when a turn was last about to end."""

    task_id: str
    goal_id: str
    goal: str
    status: Standing = Field(description="`active` until it is achieved, or found to be impossible (`failed`).")
    outcome: Outcome = Field(
        description="How it last went: `blocked` the turn was sent on, `limit` it was sent on as often as it may be,"
        " `deferred` work in the background had not ended, `error` it could not be judged."
    )
    reason: str | None = Field(None, description="What the evaluator said, or why it said nothing.")
    blocks: int = Field(description="How often that turn was sent on.")
    set_at: str
    updated_at: str

    @classmethod
    def of(cls, task_id: str, goal: Goal) -> "GoalAnswer":
        return cls.model_validate(
            {
                "task_id": task_id,
                "goal_id": goal.goal_id,
                "goal": goal.goal,
                "status": goal.status,
                "outcome": goal.outcome,
                "reason": goal.reason,
                "blocks": goal.blocks,
                "set_at": iso_ms(goal.set_at),
                "updated_at": iso_ms(goal.updated_at),
            }
        )


@router.put(
    "",
    summary="Set the goal of a task",
    response_model=GoalAnswer,
    responses=refusals(ErrorCode.MALFORMED_REQUEST, *_MEANT, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
)
async def set_goal(
    task_id: PathTaskId, body: GoalBody, engine: Serving, visit: Visiting, response: Response
) -> GoalAnswer:
    """In place of the one it has. From now on a turn of the task that is about to end is sent on until somebody who
    only looks at the work finds the goal met, up to eight times; then it ends, and the goal stays."""
    response.headers.update(warnings(body))
    key = ThreadKey(visit.user_id, task_id)
    return GoalAnswer.of(task_id, await goals.put(engine.brain, engine.secrets, key, body.goal))


@router.get(
    "",
    summary="See the goal of a task",
    response_model=GoalAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, *_MEANT),
)
async def get_goal(task_id: PathTaskId, engine: Serving, visit: Visiting) -> GoalAnswer:
    """How it stands; `NOT_FOUND` when the task has none."""
    return GoalAnswer.of(task_id, await goals.shown(engine.brain, ThreadKey(visit.user_id, task_id)))


@router.delete(
    "",
    summary="Clear the goal of a task",
    status_code=204,
    responses=refusals(ErrorCode.NOT_FOUND, *_MEANT),
)
async def clear_goal(task_id: PathTaskId, engine: Serving, visit: Visiting) -> None:
    """Turns end by themselves again; one that runs is not sent on any more."""
    await goals.clear(engine.brain, ThreadKey(visit.user_id, task_id))
