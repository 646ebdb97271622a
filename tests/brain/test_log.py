"""The thread: gapless numbers, order, merging, guards, isolation, and what a full disk does to it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import InboxRow, ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.unit import Absent, Conflict, Idle, Owned, Unanswered, Waiting
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import (
    HitlRequest,
    HitlResolved,
    Phase,
    TaskLifecycle,
    TextDelta,
    ThreadLifecycle,
    Usage,
    decode_event,
)
from tests.brain.thread import KEY, begin, delta, end, ending, opening, read_all, text_in


async def test_events_get_gapless_numbers_and_stamps(brain: Brain) -> None:
    first = await begin(brain)
    for number in range(50):
        brain.emit(KEY, "turn-1", delta(f"{number} "))
    last = await end(brain)
    frames = await read_all(brain)
    assert [item.seq for item in frames] == list(range(1, len(frames) + 1))
    assert first[0].seq == 1
    assert last[0].seq == frames[-1].seq
    events = [decode_event(item.json) for item in frames]
    assert all(event.task_id == "task-1" and event.turn_id == "turn-1" for event in events)
    assert [event.timestamp for event in events] == sorted(event.timestamp for event in events)
    assert frames[0].data.startswith(b"id: 1\nevent: thread_lifecycle\ndata: {")
    assert frames[-1].grade == "end"


async def test_deltas_that_wait_together_are_merged_and_none_is_lost(brain: Brain) -> None:
    await begin(brain)
    words = [f"word{number} " for number in range(500)]
    for word in words:
        brain.emit(KEY, "turn-1", delta(word))
    await end(brain)
    frames = await read_all(brain)
    assert text_in(frames) == "".join(words)
    assert len(frames) < 100


async def test_deltas_of_different_blocks_stay_apart(brain: Brain) -> None:
    await begin(brain)
    for index in (0, 0, 1, 1, 0):
        brain.emit(KEY, "turn-1", delta("x", block_index=index))
    await end(brain)
    events = [decode_event(item.json) for item in await read_all(brain)]
    indexes = [event.block_index for event in events if isinstance(event, TextDelta)]
    assert indexes.count(1) >= 1
    assert indexes[0] == 0
    assert indexes[-1] == 0


async def test_one_turn_at_a_time(brain: Brain) -> None:
    await begin(brain)
    with pytest.raises(Conflict) as refused:
        await brain.append(KEY, "turn-2", opening(message_id="msg-2"), guard=Idle())
    assert refused.value.status == "running"
    assert refused.value.active_turn_id == "turn-1"
    await end(brain)
    await brain.append(KEY, "turn-2", opening(message_id="msg-2"), guard=Idle())
    frames = await read_all(brain)
    assert [item.seq for item in frames] == list(range(1, len(frames) + 1))


async def test_of_two_racing_starts_one_wins(brain: Brain) -> None:
    attempts = [
        brain.append(KEY, f"turn-{number}", opening(message_id=f"msg-{number}"), guard=Idle())
        for number in range(20)
    ]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(result, list) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 19


async def test_a_turn_that_was_ended_cannot_write(brain: Brain) -> None:
    await begin(brain)
    await end(brain)
    brain.emit(KEY, "turn-1", delta("too late"))
    with pytest.raises(Conflict):
        await brain.append(KEY, "turn-1", [ending()], guard=Owned("turn-1"))
    assert text_in(await read_all(brain)) == ""


async def test_requests_to_people_are_answered_once(brain: Brain) -> None:
    await begin(brain)
    asked = HitlRequest(request_id="hitl-1", kind="question", question="why?")
    suspended = ThreadLifecycle(phase=Phase.SUSPENDED)
    await brain.append(KEY, "turn-1", [asked, suspended], guard=Owned("turn-1"))
    pending = await brain.pending_requests("ada")
    assert [(item.request_id, item.task_id, item.question) for item in pending] == [("hitl-1", "task-1", "why?")]
    answers = [
        brain.append(KEY, "turn-1", [HitlResolved(request_id="hitl-1", answer=str(n))], guard=Unanswered("hitl-1"))
        for n in range(5)
    ]
    results = await asyncio.gather(*answers, return_exceptions=True)
    assert [isinstance(result, list) for result in results] == [True, False, False, False, False]
    assert await brain.pending_requests("ada") == []
    with pytest.raises(Conflict):
        await brain.append(KEY, "turn-1", [suspended], guard=Owned("turn-1"))
    await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.RESUMED, segment=1)], guard=Waiting("turn-1"))
    turn = await brain.turn("ada", "turn-1")
    assert turn is not None
    assert (turn.status, turn.segment) == ("running", 1)


async def test_guards_hold_after_a_restart(tmp_path: Path) -> None:
    first = SqliteBrain(tmp_path / "brain.sqlite")
    await first.start()
    await begin(first)
    asked = HitlRequest(request_id="hitl-1", kind="question", question="why?")
    await first.append(KEY, "turn-1", [asked, ThreadLifecycle(phase=Phase.SUSPENDED)], guard=Owned("turn-1"))
    await first.close()
    second = SqliteBrain(tmp_path / "brain.sqlite")
    await second.start()
    with pytest.raises(Conflict):
        await second.append(KEY, "turn-2", opening(message_id="msg-2"), guard=Idle())
    written = await second.append(
        KEY, "turn-1", [HitlResolved(request_id="hitl-1", answer="so")], guard=Unanswered("hitl-1")
    )
    assert written[0].seq == 5
    await second.close()


async def test_a_new_thread_is_made_only_when_something_is_written(brain: Brain) -> None:
    stranger = ThreadKey("ada", "nowhere")
    brain.emit(stranger, "turn-9", delta("lost"))
    with pytest.raises(Conflict):
        await brain.append(stranger, "turn-9", [ending()], guard=Owned("turn-9"))
    assert await brain.thread(stranger) is None
    await brain.append(stranger, None, [TaskLifecycle(phase="renamed", title="t")], guard=Absent())
    with pytest.raises(Conflict):
        await brain.append(stranger, None, [TaskLifecycle(phase="renamed", title="u")], guard=Absent())


async def test_users_do_not_see_each_other(brain: Brain) -> None:
    other = ThreadKey("bob", "task-1")
    await begin(brain)
    await begin(brain, other, "turn-b", "msg-b")
    assert [item.turn_id for item in await read_all(brain, other)] == ["turn-b", "turn-b"]
    assert await brain.turn("bob", "turn-1") is None
    assert [thread.user_id for thread in await brain.threads("bob", limit=10)] == ["bob"]
    await end(brain)
    assert await brain.delete_thread(KEY) == "idle"
    assert await brain.thread(KEY) is None
    assert len(await read_all(brain, other)) == 2


async def test_usage_adds_up_on_the_turn(brain: Brain) -> None:
    await begin(brain)
    for step in (1, 2):
        usage = Usage(
            step=step,
            message_id=f"m{step}",
            model="m",
            stop_reason="end_turn",
            input_tokens=10,
            output_tokens=5,
            cache_hit_tokens=3,
            cost_usd=0.25,
        )
        await brain.append(KEY, "turn-1", [usage], guard=Owned("turn-1"))
    turn = await brain.turn("ada", "turn-1")
    assert turn is not None
    assert (turn.model_calls, turn.input_tokens, turn.output_tokens, turn.cost_usd) == (2, 20, 10, 0.5)
    assert turn.cache_read_tokens == 6


async def test_a_full_disk_delays_but_loses_nothing(file_brain: SqliteBrain) -> None:
    brain = file_brain
    await begin(brain)

    def shrink(db: sqlite3.Connection) -> int:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        return db.execute(f"PRAGMA max_page_count = {pages}").fetchone()[0]

    await brain._file.run(shrink)
    big = "x" * 300_000
    brain.emit(KEY, "turn-1", delta(big))
    done = brain.append(KEY, "turn-1", [ending()], guard=Owned("turn-1"))
    while brain.fault is None:
        await asyncio.sleep(0.01)
    health = await brain.health()
    assert not health.ok
    assert "full" in str(health.fault)
    assert not done.done()
    brain._file._db.execute("PRAGMA max_page_count = 1000000")
    await asyncio.wait_for(done, 10)
    assert brain.fault is None
    frames = await read_all(brain)
    assert text_in(frames) == big
    assert [item.seq for item in frames] == list(range(1, len(frames) + 1))


async def test_one_bad_unit_does_not_take_the_others_down(brain: Brain) -> None:
    good = brain.append(KEY, "turn-1", opening(), guard=Idle())
    other = ThreadKey("ada", "task-2")
    clash = brain.append(other, "turn-1", opening(message_id="msg-2"))
    results = await asyncio.gather(good, clash, return_exceptions=True)
    assert isinstance(results[0], list)
    assert isinstance(results[1], EngineError)
    assert results[1].code is ErrorCode.STORAGE_UNAVAILABLE
    assert len(await read_all(brain)) == 2


async def test_two_engines_cannot_open_one_brain(file_brain: SqliteBrain, tmp_path: Path) -> None:
    second = SqliteBrain(tmp_path / "brain.sqlite")
    with pytest.raises(EngineError) as refused:
        await second.start()
    assert refused.value.code is ErrorCode.STORAGE_UNAVAILABLE
    assert "SQLITE_DB_PATH" in refused.value.message


async def test_a_newer_brain_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    brain = SqliteBrain(path)
    await brain.start()
    await brain.close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO schema_migrations VALUES (9999, 'future.sql', 0)")
    db.close()
    with pytest.raises(EngineError) as refused:
        await SqliteBrain(path).start()
    assert refused.value.code is ErrorCode.MIGRATION_REQUIRED


async def test_a_file_that_is_no_brain_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    path.write_bytes(b"this is not a database at all, and long enough to be sure" * 100)
    with pytest.raises(EngineError) as refused:
        await SqliteBrain(path).start()
    assert refused.value.code is ErrorCode.STORAGE_UNAVAILABLE


async def test_rows_are_written_with_their_events(brain: Brain) -> None:
    await begin(brain)
    row = InboxRow(message_id="msg-2", turn_id="turn-2", mode="queue", body=b"{}", created_at=1)
    await brain.append(KEY, None, [TaskLifecycle(phase="queued", message_id="msg-2")], rows=[row])
    assert await brain.inbox(KEY) == [row]
    assert await brain.inbox(ThreadKey("bob", "task-1")) == []
    await brain.append(KEY, None, [TaskLifecycle(phase="dequeued", message_id="msg-2")])
    assert await brain.inbox(KEY) == []


async def test_a_text_that_is_no_text_is_refused_alone_or_kept(brain: Brain) -> None:
    """Half a character, as hostile JSON can hold it: the writer goes on either way."""
    bad = brain.append(ThreadKey("ada", "half \ud800"), None, [TaskLifecycle(phase="renamed", title="x")])
    await begin(brain)
    await asyncio.gather(bad, return_exceptions=True)
    await end(brain)
    assert len(await read_all(brain)) == 3
