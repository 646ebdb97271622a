"""A replay held beside the turn it repeats: where it first came otherwise, and what both used.

It is made of the two recordings alone. Words beside tool calls are not compared: what counts is what was called, with
what, how it ended and what was answered.
"""

from datetime import datetime
from difflib import unified_diff
from itertools import takewhile, zip_longest
from typing import Any

from aster.contracts.blocks import text_of
from aster.contracts.events import ThreadLifecycle, Usage
from aster.contracts.replay import NOT_RECORDED, Divergence, ReplayArm, ReplayReport
from aster.contracts.turn import Replay
from aster.engine_core.replaying.recorded import Recorded, Step, ended


def report(replay: Replay, replay_task_id: str, recorded: Recorded, replayed: Recorded) -> ReplayReport:
    """What a replay came to, or has come to so far."""
    over = ended(replayed) is not None
    found = divergence(recorded, replayed, replay.kept) if over else None
    then, now = answer_of(recorded), answer_of(replayed)
    return ReplayReport(
        replay_task_id=replay_task_id,
        status="ended" if over else "running",
        from_seq=replay.from_seq,
        from_step=replay.kept + 1,
        memory=replay.memory,
        same=over and found is None,
        divergence=found,
        diff="\n".join(unified_diff(then.splitlines(), now.splitlines(), "recorded", "replayed", lineterm="")),
        recorded=arm(recorded, replay.task_id, replay.kept),
        replayed=arm(replayed, replay_task_id, replay.kept),
    )


def divergence(recorded: Recorded, replayed: Recorded, kept: int) -> Divergence | None:
    """The first thing that came otherwise after the first `kept` model calls; None when nothing did."""
    pairs = zip_longest(recorded.steps[kept:], replayed.steps[kept:])
    for number, (then, now) in enumerate(pairs, start=kept + 1):
        ended_early = None if then is not None and now is not None else _ends(number, recorded, replayed)
        found = ended_early or _calls(number, then, now)
        if found is not None:
            return found
    number, then, now = len(replayed.steps), _last(recorded), _last(replayed)
    words = answer_of(recorded), answer_of(replayed)
    if recorded.state.status is replayed.state.status and words[0] != words[1]:
        return _at(number, "answer", then, now, *words)
    return _ends(number, recorded, replayed)


def _ends(number: int, recorded: Recorded, replayed: Recorded) -> Divergence | None:
    """How the ends of two turns differ, apart from what was said; None when they do not."""
    then, now = recorded.state, replayed.state
    if then.status is now.status and then.stop_reason == now.stop_reason:
        return None
    told = (then.stop_reason, now.stop_reason)
    if then.status is not now.status:
        told = then.error or then.status, now.error or now.status
    return Divergence(
        step=number,
        kind="stop_reason" if then.status is now.status else "status",
        source_seq=_end_seq(recorded),
        replay_seq=_end_seq(replayed),
        recorded=told[0],
        replayed=told[1],
    )


def _calls(number: int, then: Step | None, now: Step | None) -> Divergence | None:
    """How two model calls differ in what they called."""
    asked = [] if then is None else then.calls
    asks = [] if now is None else now.calls
    for (was, old), (is_, new) in zip(asked, asks, strict=False):
        if old.name != new.name:
            return Divergence(
                step=number, kind="call", source_seq=was, replay_seq=is_, recorded=_call(old), replayed=_call(new)
            )
        if old.input != new.input:
            return Divergence(
                step=number,
                kind="arguments",
                source_seq=was,
                replay_seq=is_,
                recorded=_call(old),
                replayed=_call(new),
            )
    if len(asked) == len(asks):
        return None if then is not None and now is not None else _gone(number, then, now)
    at = min(len(asked), len(asks))
    old, new = asked[at : at + 1], asks[at : at + 1]
    return Divergence(
        step=number,
        kind="call",
        source_seq=old[0][0] if old else _seq(then),
        replay_seq=new[0][0] if new else _seq(now),
        recorded=_call(old[0][1]) if old else None,
        replayed=_call(new[0][1]) if new else None,
    )


def _gone(number: int, then: Step | None, now: Step | None) -> Divergence:
    """One of the two made a model call more, which called nothing: they said something else."""
    words = None if then is None else then.text, None if now is None else now.text
    return _at(number, "answer", then, now, *words)


def _at(number: int, kind: Any, then: Step | None, now: Step | None, recorded: Any, replayed: Any) -> Divergence:
    return Divergence(
        step=number,
        kind=kind,
        source_seq=_seq(then),
        replay_seq=_seq(now),
        recorded=recorded,
        replayed=replayed,
    )


def _call(block: Any) -> dict[str, Any]:
    return {"tool": block.name, "input": block.input}


def _seq(step: Step | None) -> int | None:
    """Where a model call begins to say something, or else where it ends."""
    if step is None:
        return None
    return step.blocks[0][0] if step.blocks else step.usage.seq


def _last(recorded: Recorded) -> Step | None:
    return recorded.steps[-1] if recorded.steps else None


def _end_seq(recorded: Recorded) -> int | None:
    return recorded.events[-1].seq if recorded.events else None


def answer_of(recorded: Recorded) -> str:
    """What a turn said at its end: everything after its last call and the last word to it."""
    spoken = takewhile(lambda message: message.role == "assistant", reversed(recorded.state.messages))
    return "".join(reversed([text_of(message.content) for message in spoken]))


def arm(recorded: Recorded, task_id: str, kept: int) -> ReplayArm:
    """What a turn came to and used, from the model call after the first `kept` on."""
    state, steps = recorded.state, recorded.steps[kept:]
    floor = steps[0].floor if steps else (recorded.events[-1].seq if recorded.events else 0)
    paid = [event for event in recorded.events if isinstance(event, Usage) and event.seq > floor]
    outcomes = [outcome for outcome in recorded.outcomes if outcome.result.seq > floor]
    return ReplayArm(
        task_id=task_id,
        turn_id=state.turn_id,
        status=state.status,
        model=steps[-1].usage.model if steps else "",
        stop_reason=state.stop_reason,
        error=state.error,
        answer=answer_of(recorded),
        steps=len(steps),
        calls=len(outcomes),
        tool_errors=sum(outcome.result.error is not None for outcome in outcomes),
        unrecorded=sum(outcome.result.error == NOT_RECORDED for outcome in outcomes),
        cost_usd=sum(event.cost_usd or 0.0 for event in paid),
        input_tokens=sum(event.input_tokens for event in paid),
        output_tokens=sum(event.output_tokens for event in paid),
        cache_hit_tokens=sum(event.cache_hit_tokens for event in paid),
        model_ms=sum(event.duration_ms or 0 for event in paid),
        tool_ms=sum(outcome.result.duration_ms or 0 for outcome in outcomes),
        seconds=_seconds(recorded),
    )


def _seconds(recorded: Recorded) -> float:
    """By the clock, from the first record to the last."""
    if len(recorded.events) < 2 or not isinstance(recorded.events[0], ThreadLifecycle):
        return 0.0
    first, last = (datetime.fromisoformat(recorded.events[at].timestamp) for at in (0, -1))
    return round((last - first).total_seconds(), 3)
