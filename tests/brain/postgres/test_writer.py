"""Several replicas write to one database: one at a time to each thread, and none that has lost its turn."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from aster.brain.memory_records import JournalRow
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.records import ThreadKey
from aster.brain.unit import Absent, Conflict, Idle, Owned, Waiting
from aster.contracts.events import Phase, ThreadLifecycle
from tests.brain.thread import KEY, begin, delta, end, ending, opening, read_all, text_in
from tests.postgres import server


async def gapless(brain: PostgresBrain, key: ThreadKey = KEY) -> int:
    seqs = [item.seq for item in await read_all(brain, key)]
    assert seqs == list(range(1, len(seqs) + 1))
    return len(seqs)


async def epoch(brain: PostgresBrain) -> int:
    thread = await brain.thread(KEY)
    assert thread is not None
    return thread.epoch


async def test_who_lost_a_turn_cannot_write_to_it(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    await b.take(KEY, "turn-1", await epoch(b))
    a.emit(KEY, "turn-1", delta("from the dead"))
    with pytest.raises(Conflict):
        await a.append(KEY, "turn-1", [delta("from the dead")], guard=Owned("turn-1"))
    b.emit(KEY, "turn-1", delta("alive"))
    await end(b)
    assert text_in(await read_all(a)) == "alive"
    assert await gapless(a) == 4


async def test_a_turn_is_taken_by_one(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    seen = await epoch(a)
    taken = await asyncio.gather(
        *(brain.take(KEY, "turn-1", seen) for brain in (a, b) for _ in range(5)), return_exceptions=True
    )
    assert sum(not isinstance(each, Conflict) for each in taken) == 1
    assert await epoch(a) == seen + 1


async def test_a_turn_that_was_left_is_anybodys(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    await a.release(KEY, "turn-1")
    with pytest.raises(Conflict):
        await end(a)
    [turn] = await b.running_turns()
    assert turn.owner is None
    await b.take(KEY, "turn-1", turn.epoch)
    await end(b)
    assert [each.status for each in await a.turns(KEY)] == ["completed"]


async def test_a_suspended_turn_goes_on_where_it_is_answered(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    await a.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.SUSPENDED)], guard=Owned("turn-1"))
    await b.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.RESUMED, segment=1)], guard=Waiting("turn-1"))
    with pytest.raises(Conflict):
        await end(a)
    await end(b)


async def test_guards_are_compared_with_what_all_have_written(a: PostgresBrain, b: PostgresBrain) -> None:
    """200 starts of 20 tasks, from both sides at once: each task gets one turn, and no number is used twice."""
    keys = [ThreadKey("ada", f"task-{number}") for number in range(20)]
    starts = [
        brain.append(key, f"{key.task_id}:{side}:{again}", opening(message_id=f"{side}{again}"), guard=Idle())
        for again in range(5)
        for key in keys
        for side, brain in enumerate((a, b))
    ]
    results = await asyncio.gather(*starts, return_exceptions=True)
    assert sum(isinstance(each, list) for each in results) == 20
    assert all(isinstance(each, list | Conflict) for each in results)
    for key in keys:
        assert await gapless(a, key) == 2


async def test_numbers_are_gapless_whoever_writes(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    notes = [
        brain.append(KEY, "turn-1", [delta(str(number), block_index=number % 2)])
        for number in range(100)
        for brain in (a, b)
    ]
    await asyncio.gather(*notes)
    await end(a)
    assert len(text_in(await read_all(b))) == 2 * sum(len(str(number)) for number in range(100))
    await gapless(b)


async def test_a_task_is_made_by_one(a: PostgresBrain, b: PostgresBrain) -> None:
    made = await asyncio.gather(
        *(brain.append(KEY, None, [delta("x")], guard=Absent()) for brain in (a, b) for _ in range(10)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, list) for each in made) == 1
    assert await gapless(a) == 1


@pytest.fixture
def slow(clean_url: str) -> Iterator[psycopg.Connection]:
    """Another replica, in the middle of a transaction."""
    with closing(psycopg.connect(clean_url)) as connection:
        connection.execute("SELECT set_config('aster.user', '*', false)")
        connection.commit()
        yield connection


async def test_a_batch_sees_what_was_written_while_it_waited(a: PostgresBrain, slow: psycopg.Connection) -> None:
    await begin(a)
    slow.execute("SELECT 1 FROM threads FOR NO KEY UPDATE")
    slow.execute(
        "INSERT INTO thread_events SELECT thread_id, 3, user_id, 'turn-1', 'text_delta', 'delta', 0, '{}' FROM threads"
    )
    appending = a.append(KEY, "turn-1", [delta("after")], guard=Owned("turn-1"))
    await asyncio.sleep(0.1)
    assert not appending.done()
    slow.commit()
    await asyncio.wait_for(appending, 5)
    assert [item.seq for item in await read_all(a)] == [1, 2, 3, 4]


async def test_a_guard_is_checked_after_the_wait(a: PostgresBrain, slow: psycopg.Connection) -> None:
    await begin(a)
    slow.execute("UPDATE threads SET owner = 'another', epoch = epoch + 1")
    appending = a.append(KEY, "turn-1", [delta("after")], guard=Owned("turn-1"))
    await asyncio.sleep(0.1)
    assert not appending.done()
    slow.commit()
    with pytest.raises(Conflict):
        await asyncio.wait_for(appending, 5)


async def test_a_process_that_stands_still_holds_up_nobody_for_long(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    woken = threading.Event()

    def stand_still(db: PostgresConnection) -> None:
        assert db.execute("SELECT epoch FROM threads FOR NO KEY UPDATE").fetchall()
        woken.wait(30)

    standing = a._own.run(stand_still)
    try:
        await asyncio.wait_for(b.take(KEY, "turn-1", 1), 10)
        await end(b)
    finally:
        woken.set()
    with pytest.raises(Conflict):
        await end(a)
    await standing


async def test_a_database_that_takes_nothing_is_said_and_loses_nothing(a: PostgresBrain, clean_url: str) -> None:
    await begin(a)
    name = clean_url.rsplit("/", 1)[1]
    server().run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    server().cut(clean_url)
    done = a.append(KEY, "turn-1", [ending()], guard=Owned("turn-1"))
    while a.fault is None or "read-only" not in a.fault:
        await asyncio.sleep(0.01)
    assert not (await a.health()).ok
    assert not done.done()
    server().run(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    server().cut(clean_url)
    await asyncio.wait_for(done, 10)
    assert a.fault is None
    assert await gapless(a) == 3


async def test_a_text_with_a_nul_is_kept_without(a: PostgresBrain) -> None:
    key = ThreadKey("ada", "task\x00one")
    await a.append(key, "turn-1", opening("a\x00b"), guard=Idle())
    assert "a\\u0000b" in (await read_all(a, ThreadKey("ada", "task�one")))[1].json.decode()
    [thread] = await a.threads("ada", limit=5)
    assert thread.title == "a�b"
    await asyncio.wait_for(end(a, key), 5)
    assert await gapless(a, key) == 3


async def test_memory_that_cannot_be_written_does_not_keep_a_turn_from_ending(database_url: str) -> None:
    brain = PostgresBrain(database_url, readers=1)
    await brain.start()
    await begin(brain)
    server().run("ALTER TABLE memory_receipts DROP COLUMN uses", database_url.rsplit("/", 1)[1])
    journal = JournalRow(user_id="ada", task_id="task-1", turn_id="turn-1", at=1, used=("m1",), marked=("m1",))
    await brain.append(KEY, "turn-1", [ending()], rows=[journal], guard=Owned("turn-1"))
    assert [turn.status for turn in await brain.turns(KEY)] == ["completed"]
    await brain.close()


async def test_a_deleted_task_begins_from_nothing_elsewhere(a: PostgresBrain, b: PostgresBrain) -> None:
    await begin(a)
    await end(a)
    assert await b.delete_thread(KEY) == "idle"
    await begin(a, turn_id="turn-2")
    assert await gapless(a) == 2
