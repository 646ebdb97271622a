"""Feedback: what people say of a turn, a message or a memory, kept as signals to learn from.

There is one signal for each thing and user: said again, it replaces what was said before, and sent twice it counts
once. What is said of a memory counts at once.
"""

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from aster.brain.records import ThreadKey
from aster.brain.signals import Signal, Target
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import to_builtins
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms, now_ms
from aster.infra.ids import new_id
from aster.server.bodies import LARGEST, OtherId, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Learning, Serving, Visiting

router = APIRouter(tags=["feedback"], dependencies=KEYED)

MOST_CHARS = 20_000
_WORDS = {"up": 1.0, "down": -1.0}


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("rating", "has to be up, down or a number from -1 to 1")
    return _WORDS.get(value, value) if isinstance(value, str) else value


class FeedbackBody(Part):
    """What is said, of one thing."""

    turn_id: OtherId | None = None
    message_id: OtherId | None = Field(None, description="A message or an answer of the task `task_id`.")
    memory_id: OtherId | None = None
    task_id: TaskId | None = Field(None, description="Where the message is.")
    rating: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False), BeforeValidator(_number)] | None = Field(
        None, description="`up`, `down`, or a number from -1 (wrong, harmful) to 1 (right, helpful)."
    )
    text: Text = Field("", max_length=MOST_CHARS, description="In words.")
    correction: Text = Field("", max_length=MOST_CHARS, description="What would have been right.")

    @model_validator(mode="after")
    def _about_one_thing(self) -> Self:
        given = [name for name in ("turn_id", "message_id", "memory_id") if getattr(self, name) is not None]
        if len(given) != 1:
            problem = "is missing (or message_id, or memory_id)" if not given else f"excludes {given[-1]}"
            raise PydanticCustomError("target", problem, {"field": given[0] if given else "turn_id"})  # type: ignore[arg-type]
        if self.message_id is not None and self.task_id is None:
            raise PydanticCustomError(
                "missing_task", "is missing: say which task the message is in", {"field": "task_id"}
            )
        if self.rating is None and not self.text.strip() and not self.correction.strip():
            raise PydanticCustomError("empty", "is missing, and so are text and correction", {"field": "rating"})
        return self


class SignalAnswer(BaseModel):
    """What was said of a thing."""

    signal_id: str
    target: Target
    target_id: str
    task_id: str | None
    turn_id: str | None
    rating: float | None
    text: str
    correction: str
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, signal: Signal) -> "SignalAnswer":
        return cls.model_validate(
            {
                **to_builtins(signal),
                "task_id": signal.task_id or None,
                "turn_id": signal.turn_id or None,
                "created_at": iso_ms(signal.created_at),
                "updated_at": iso_ms(signal.updated_at),
            }
        )


class SignalPage(BaseModel):
    signals: list[SignalAnswer]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


class SignalDeleted(BaseModel):
    status: Literal["deleted"] = "deleted"
    signal_id: str


@router.post("/api/feedback", include_in_schema=False)
@router.post(
    "/feedback",
    summary="Say what you think of a turn, a message or a memory",
    response_model=SignalAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.TASK_NOT_FOUND),
)
async def feedback(
    body: FeedbackBody, engine: Serving, centre: Learning, visit: Visiting, response: Response
) -> SignalAnswer:
    """One signal for each thing: said again, it replaces what was said before. A memory that is rated well is surer
    and fades more slowly from now on; one that is rated badly comes after others that fit; one that is corrected says
    so from now on."""
    learn = engine.settings.learning != "off"
    kept = await engine.brain.keep_signal(await _signal(engine, visit.user_id, body), learn=learn)
    if kept is None:
        raise _gone(body)
    if learn:
        await centre.told(kept)
    response.headers.update(warnings(body))
    return SignalAnswer.of(kept)


@router.get(
    "/feedback",
    summary="List what you have said",
    response_model=SignalPage,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def signals(
    engine: Serving,
    visit: Visiting,
    target: Target | None = None,
    task_id: Annotated[TaskId | None, Query(description="Only of this task.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")] = None,
) -> SignalPage:
    """Newest first."""
    found = await engine.brain.signals(
        visit.user_id, limit=limit + 1, before=before, target=target, task_id=task_id
    )
    more = found[limit - 1].number if len(found) > limit else None
    return SignalPage(signals=[SignalAnswer.of(one) for one in found[:limit]], next=more)


@router.delete(
    "/feedback/{signal_id}",
    summary="Take back what you said",
    response_model=SignalDeleted,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def take_back(
    signal_id: Annotated[str, Path(max_length=128)], engine: Serving, centre: Learning, visit: Visiting
) -> SignalDeleted:
    """What it did to a memory is undone."""
    if not await engine.brain.drop_signal(visit.user_id, signal_id):
        raise EngineError(ErrorCode.NOT_FOUND, f"There is no feedback {signal_id!r}. GET /feedback lists yours.")
    await centre.untold(visit.user_id, signal_id)
    return SignalDeleted(signal_id=signal_id)


async def _signal(engine: Engine, user_id: str, body: FeedbackBody) -> Signal:
    target, target_id, task_id, turn_id = await _target(engine, user_id, body)
    now = now_ms()
    return Signal(
        signal_id=new_id("signal"),
        user_id=user_id,
        target=target,
        target_id=target_id,
        task_id=task_id,
        turn_id=turn_id,
        rating=body.rating,
        text=engine.secrets.clean(body.text, "memory", shapes=True),
        correction=engine.secrets.clean(body.correction, "memory", shapes=True),
        created_at=now,
        updated_at=now,
    )


async def _target(engine: Engine, user_id: str, body: FeedbackBody) -> tuple[Target, str, str, str]:
    """What the feedback is about: its kind and id, and the task and turn it belongs to."""
    if body.memory_id is not None:
        return "memory", (await engine.memory.get(user_id, body.memory_id)).id, "", ""
    if body.turn_id is not None:
        turn = await engine.brain.turn(user_id, body.turn_id)
        if turn is None or body.task_id not in (None, turn.task_id):
            raise _gone(body)
        return "turn", turn.turn_id, turn.task_id, turn.turn_id
    task_id, message_id = body.task_id or "", body.message_id or ""
    said = await engine.brain.said(ThreadKey(user_id, task_id), message_id)
    if said is None:
        raise _gone(body)
    return "message", message_id, said.task_id, said.turn_id


def _gone(body: FeedbackBody) -> EngineError:
    named = body.turn_id or body.message_id or body.memory_id
    what = "turn" if body.turn_id else "message" if body.message_id else "memory"
    return EngineError(
        ErrorCode.NOT_FOUND, f"There is no {what} {named!r} of yours there.", {"target": what, "target_id": named}
    )
