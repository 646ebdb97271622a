"""What a replay has in place of the world: recorded outcomes for its calls, recorded words from outside, and nothing
else.

No tool is prepared, let alone run; no hook, person or sub-agent is asked. Everything is found by the state of the turn
and its recording, so a replay that was interrupted goes on as if it had not been.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final, TypeVar

import msgspec

from aster.brain.records import ThreadKey
from aster.contracts.blocks import ToolUseBlock
from aster.contracts.events import Event, ToolCallIssued, ToolError, ToolResult, UserMessage, Verification
from aster.contracts.replay import NOT_RECORDED
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import CallState, Replay
from aster.engine_core.replaying.recorded import Recorded, load
from aster.engine_core.running import finish, idempotency_key, unreadable
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended
from aster.engine_core.turn import Turn

MAX_USD: Final = "max_usd"
"""Why a replay ends that has spent what it may."""
_REFUSAL: Final = (
    "Not run: this is a replay of an earlier turn, and `{tool}` was not called with this input then, so nobody knows"
    " what it would come to. Go on with what you know."
)
E = TypeVar("E", bound=Event)
C = TypeVar("C", ToolCallIssued, ToolError, ToolResult)


def copied(event: E) -> E:
    """A record as it is written anew: its place on another thread is not known yet."""
    return msgspec.structs.replace(event, task_id="", turn_id=None, seq=0, timestamp="")


async def begin(turn: Turn, replay: Replay) -> None:
    """Give a replay its recording."""
    turn.recorded = await load(turn.brain, ThreadKey(turn.key.user_id, replay.task_id), replay.turn_id)


def act(turn: Turn, services: Services, replay: Replay) -> None:
    """Give every call of the current step the outcome that is on record for it."""
    for call in turn.state.unresolved:
        _answer(turn, services, _recording(turn), call)
    if replay.unrecorded == "stop" and any(run.error == NOT_RECORDED for run in turn.state.runs):
        raise Ended(NOT_RECORDED)


def _answer(turn: Turn, services: Services, recorded: Recorded, call: CallState) -> None:
    found = recorded.outcome(call.call, _made_before(turn, call))
    if found is None:
        finish(turn, services, call, unreadable(call) or _unrecorded(call), None, trusted=True)
        return
    call_id, step = call.call.id, turn.state.step
    events: list[Event] = []
    if found.issued is not None:
        key = idempotency_key(turn, call)
        events.append(_of(found.issued, call_id, step=step, idempotency_key=key, attempt=1, grant_id=None))
    events += map(copied, found.said)
    if found.failed is not None:
        events.append(_of(found.failed, call_id))
    events.append(_of(found.result, call_id, step=step))
    turn.write(*events)


def _of(event: C, call_id: str, **changed: Any) -> C:
    return msgspec.structs.replace(copied(event), tool_call_id=call_id, **changed)


def _unrecorded(call: CallState) -> ToolOutcome:
    text = _REFUSAL.format(tool=call.call.name)
    return ToolOutcome.error(text, reason=NOT_RECORDED, failure=OutcomeClass.FATAL)


def _made_before(turn: Turn, call: CallState) -> int:
    """How many calls of the turn have asked for the same before this one."""
    made = [
        block for message in turn.state.messages for block in message.content if isinstance(block, ToolUseBlock)
    ]
    open_ids = list(turn.state.calls)
    earlier = made[: len(made) - len(open_ids) + open_ids.index(call.call.id)]
    return sum(block.name == call.call.name and block.input == call.call.input for block in earlier)


def steers(turn: Turn) -> list[UserMessage]:
    """What a person said when the recorded turn had come so far."""
    return [
        copied(event)
        for event in _recording(turn).outside.get(turn.state.model_calls, ())
        if isinstance(event, UserMessage) and event.origin == "steer" and event.message_id not in turn.state.said
    ]


def tell(turn: Turn) -> None:
    """Tell the model what else reached it from outside when the recorded turn had come so far."""
    known = {message.id for message in turn.state.messages}
    waiting: list[Event] = []
    for event in _recording(turn).outside.get(turn.state.model_calls, ()):
        if not isinstance(event, UserMessage):
            waiting.append(copied(event))
            continue
        if event.message_id not in known and event.origin != "steer":
            turn.write(*waiting, copied(event))
        waiting = []


def may_end(turn: Turn) -> bool:
    """Whether the turn may end here; a hook that sent the recorded one round once more does so again."""
    held_up = _recording(turn).held_up.get(turn.state.model_calls, ())
    if not held_up:
        return True
    turn.write(*map(copied, held_up))
    return False


def judged(turn: Turn, answer: str) -> Verification | None:
    """What a critic said when the recorded turn had come so far, if this is the answer it was about."""
    recorded, calls = _recording(turn), turn.state.model_calls
    verdict = recorded.verdicts.get(calls)
    same = 0 < calls <= len(recorded.steps) and recorded.steps[calls - 1].text == answer
    return verdict if same and verdict is not None and verdict.source == "model" else None


def afford(turn: Turn) -> None:
    """End a replay that has spent what it may."""
    replay = turn.state.request.replay
    if replay is None or replay.max_usd is None:
        return
    if turn.state.cost_usd - replay.paid_usd >= replay.max_usd:
        raise Ended(MAX_USD)


def standing_back(turn: Turn, services: Services) -> AbstractAsyncContextManager[None]:
    """A place for a model call: behind those of people, for a turn that nobody waits for."""
    return services.herald.background.place() if turn.state.request.behind else nullcontext()


def _recording(turn: Turn) -> Recorded:
    assert turn.recorded is not None, "a replay begins with its recording"
    return turn.recorded
