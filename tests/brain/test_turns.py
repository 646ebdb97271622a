"""Turns and what is kept beside them: who runs them, what waits, what they leave behind."""

from aster.brain.protocol import Brain
from aster.brain.records import (
    ConversationRow,
    InboxRow,
    KeyRow,
    ObservabilityRow,
    Place,
    SnapshotRow,
    ThreadKey,
    TrajectoryRow,
)
from aster.brain.unit import Owned
from aster.contracts.errors import ErrorCode
from aster.contracts.events import ErrorEvent, Phase, TaskLifecycle, ThreadLifecycle, UserMessage
from aster.infra.clock import now_ms
from tests.brain.thread import KEY, begin, delta, end, ending, made, read_all

OTHER = ThreadKey("bob", "task-1")


async def test_who_runs_what(brain: Brain) -> None:
    await begin(brain)
    await begin(brain, OTHER, "turn-2", "msg-2")
    assert await brain.running_by() == {brain.replica: 2}
    assert [turn.turn_id for turn in await brain.running_turns()] == ["turn-1", "turn-2"]
    await brain.release(KEY, "turn-1")
    assert await brain.running_by() == {brain.replica: 1, None: 1}
    assert [turn.turn_id for turn in await brain.running_turns(owner=brain.replica)] == ["turn-2"]
    turn = await brain.turn("ada", "turn-1")
    assert turn is not None
    assert (turn.owner, turn.epoch) == (None, 2)
    assert await brain.turn("bob", "turn-1") is None
    await brain.take(KEY, "turn-1", 2)
    assert await brain.ask_to_stop(KEY, "turn-1", "cancelled")
    assert not await brain.ask_to_stop(OTHER, "turn-1", "cancelled")
    thread = await brain.thread(KEY)
    assert thread is not None
    assert (thread.owner, thread.epoch, thread.asked_to_stop) == (brain.replica, 3, "cancelled")
    assert [await brain.count_crash("ada", "turn-1") for _ in range(2)] == [1, 2]
    assert await brain.count_crash("bob", "turn-1") == 0
    await end(brain)
    thread = await brain.thread(KEY)
    assert thread is not None
    assert (thread.owner, thread.asked_to_stop) == (None, None)


async def test_what_a_turn_leaves_behind(brain: Brain) -> None:
    now = now_ms()
    conversation = ConversationRow(
        turn_id="turn-1",
        messages=b"[]",
        message_count=2,
        follows_turn_id=None,
        follows_messages=None,
        created_at=now,
    )
    snapshot = SnapshotRow(turn_id="turn-1", task_id="task-1", seq=2, snapshot_json=b"{}", expires_at=now + 60_000)
    trajectory = TrajectoryRow(turn_id="turn-1", status="completed", record=b"\x00\x01", created_at=now)
    await begin(brain)
    await brain.append(KEY, "turn-1", [ending()], rows=[conversation, snapshot, trajectory], guard=Owned("turn-1"))
    assert await brain.conversations(KEY) == [conversation]
    assert await brain.snapshot("ada", "turn-1") == snapshot
    assert await brain.trajectory("ada", "turn-1") == trajectory
    assert await brain.conversations(OTHER) == []
    assert await brain.snapshot("bob", "turn-1") is None
    assert await brain.trajectory("bob", "turn-1") is None
    await brain.append(KEY, None, [], rows=[made(SnapshotRow, "turn-1", "task-1", 2, b"{}", now - 1)])
    assert await brain.snapshot("ada", "turn-1") is None


async def test_messages_wait_in_order_and_leave_when_they_are_said(brain: Brain) -> None:
    await begin(brain)
    waiting = [made(InboxRow, f"m{number}", f"t{number}", "queue", b"{}", 5) for number in range(3)]
    for row in waiting:
        await brain.append(KEY, None, [TaskLifecycle(phase="queued", message_id=row.message_id)], rows=[row])
    assert await brain.inbox(KEY) == waiting
    assert await brain.inbox(OTHER) == []
    assert await brain.waiting_threads() == []
    await brain.append(KEY, "turn-1", [UserMessage(message_id="m0", content=(), origin="queue")])
    await brain.append(KEY, None, [TaskLifecycle(phase="dequeued", message_id="m2")])
    assert await brain.inbox(KEY) == [waiting[1]]
    assert (await brain.counts())["waiting"] == 1
    await end(brain)
    assert await brain.waiting_threads() == [KEY]


async def test_the_thread_is_found_by_time_and_by_turn(brain: Brain) -> None:
    before = now_ms() - 1
    await begin(brain)
    await brain.append(KEY, "turn-1", [delta("x"), ErrorEvent(error=ErrorCode.LLM_PROVIDER_ERROR, message="no")])
    await brain.append(KEY, "turn-1", [ending(Phase.ERRORED)])
    assert await brain.seq_at(KEY, before) == 0
    assert await brain.seq_at(KEY, now_ms() + 1) == await brain.head(KEY) == 5
    assert [kind for kind, _ in await brain.records(KEY, "turn-1", 2)] == ["error", "thread_lifecycle"]
    assert await brain.records(OTHER, "turn-1", 0) == []
    assert [item.seq for item in await brain.frames(KEY, 1, 2)] == [2, 3]
    assert [item.seq for item in await brain.frames(KEY, 0, 9, "turn-2")] == []
    [turn] = await brain.turns(KEY)
    assert (turn.status, turn.error) == ("errored", "LLM_PROVIDER_ERROR")


async def test_a_turn_that_waits_for_nothing_is_found(brain: Brain) -> None:
    await begin(brain)
    await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.SUSPENDED)], guard=Owned("turn-1"))
    assert [turn.turn_id for turn in await brain.answered_turns()] == ["turn-1"]
    assert (await brain.counts())["suspended"] == 1


async def test_tasks_are_listed_and_found_by_words(brain: Brain) -> None:
    for number, title in enumerate(("Über 100% Wolle", "under_score", "plain")):
        key = ThreadKey("ada", f"t{number}")
        await brain.append(key, None, [TaskLifecycle(phase="renamed", title=title)])
    await begin(brain, OTHER)
    assert {task.title for task in await brain.threads("ada", limit=9)} == {
        "Über 100% Wolle",
        "under_score",
        "plain",
    }
    assert [task.task_id for task in await brain.threads("ada", limit=9, search="100%")] == ["t0"]
    assert [task.task_id for task in await brain.threads("ada", limit=9, search="R_S")] == ["t1"]
    assert await brain.threads("ada", limit=9, status="running") == []
    assert await brain.threads("ada", limit=9, parent="nobody") == []
    pages = [task.task_id for task in await brain.threads("ada", limit=2)]
    last = (await brain.threads("ada", limit=2))[-1]
    rest = await brain.threads("ada", limit=2, before=Place(last.updated_at, last.task_id))
    assert sorted(pages + [task.task_id for task in rest]) == ["t0", "t1", "t2"]


async def test_keys_and_observations(brain: Brain) -> None:
    key = KeyRow(key_id="k1", user_id="ada", name="laptop", key_hash="h1", created_at=1)
    await brain.put(key)
    revoked = KeyRow(key_id="k1", user_id="ada", name="laptop", key_hash="h1", created_at=1, revoked_at=5)
    await brain.put(revoked)
    assert await brain.keys() == [revoked]
    seen = [
        made(ObservabilityRow, f"e{number}", "ada", kind, "info", "said", number, data=b"{}")
        for number, kind in enumerate(("slow", "slow", "migration"))
    ]
    await brain.put(*seen)
    assert await brain.observations("ada", limit=2) == [seen[2], seen[1]]
    assert await brain.observations("ada", limit=9, kind="migration") == [seen[2]]
    assert await brain.observations("bob", limit=9) == []


async def test_deltas_are_folded_and_a_task_is_deleted_with_all_it_had(brain: Brain) -> None:
    await begin(brain)
    brain.emit(KEY, "turn-1", delta("gone"))
    await end(brain)
    assert await brain.retain(deltas_before=now_ms() + 1, observations_before=0) == 1
    assert [item.seq for item in await read_all(brain)] == [1, 2, 4]
    await brain.room()
    assert brain.backlog == 0
    assert brain.fault is None
    assert brain.written[1] == 4
    assert await brain.delete_thread(OTHER) is None
    assert await brain.delete_thread(KEY) == "idle"
    assert await brain.thread(KEY) is None
    assert await brain.turns(KEY) == []
    assert (await brain.health()).ok
