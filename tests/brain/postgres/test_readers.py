"""Reading: each query sees its own user's rows and no others, even if it forgot to ask for them alone."""

import asyncio
import time

import psycopg
import pytest

from aster.brain.memory_records import MemoryRow, NewVector
from aster.brain.postgres.brain import PostgresBrain, open_database
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.ids import new_id
from tests.brain.thread import KEY, begin, end
from tests.postgres import server

OTHER = ThreadKey("bob", "task-1")


def fact(user_id: str, content: str) -> MemoryRow:
    fields = {"content": content, "subject": "", "predicate": "", "type": "fact", "source": ""}
    return MemoryRow(
        id=new_id("fact"),
        user_id=user_id,
        kind="fact",
        fields=fields,
        extractor="test",
        created_at=1,
        event_at=1,
        valid_from=1,
    )


def careless(db: Connection, user_id: str) -> set[str]:
    """A query without its filter."""
    del user_id
    return {row[0] for row in db.execute("SELECT user_id FROM threads UNION SELECT user_id FROM thread_events")}


def careless_by_key(db: Connection, key: ThreadKey) -> set[str]:
    return careless(db, key.user_id)


def housekeeping(db: Connection, limit: int) -> set[str]:
    del limit
    return careless(db, "")


async def test_a_query_that_forgot_its_filter_sees_its_user_alone(a: PostgresBrain) -> None:
    await begin(a)
    await begin(a, OTHER, "turn-2", "msg-2")
    for _ in range(3):
        assert await a._readers.run(careless, "ada") == {"ada"}
        assert await a._readers.run(careless_by_key, OTHER) == {"bob"}
        assert await a._readers.run(careless, "*") == set()
        assert await a._readers.run(careless, "") == set()
        assert await a._readers.run(housekeeping, 5) == {"ada", "bob"}


async def test_what_is_made_of_records_is_their_users_too(a: PostgresBrain) -> None:
    model = await a.memory.begin_model("test")
    for user_id in ("ada", "*"):
        (done,) = await a.memory.write([fact(user_id, f"the dog of {user_id}")])
        await a.memory.keep_vectors(model.model, [NewVector(done.row.number, b"\x00\x3c", b"\x01")])
        await a.memory.retire(user_id, [done.row.id], 5)
    tables = ("memory_vectors", "memory_tokens", "memory_words", "memory_touched")

    def counted(db: Connection, user_id: str) -> list[int]:
        del user_id
        return [db.execute(f"SELECT count(DISTINCT number) FROM {table}").fetchone()[0] for table in tables]

    assert await a._readers.run(counted, "ada") == await a._readers.run(counted, "*") == [1, 1, 1, 1]
    assert await a._readers.run(counted, "nobody") == [0, 0, 0, 0]
    assert await a._readers.run(lambda db: counted(db, "")) == [2, 2, 2, 2]


async def test_a_session_that_does_not_say_for_whom_it_works_sees_nothing(a: PostgresBrain, clean_url: str) -> None:
    await begin(a)
    with psycopg.connect(clean_url, autocommit=True) as stranger:
        assert stranger.execute("SELECT * FROM threads").fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute("INSERT INTO api_keys VALUES ('k', 'ada', 'n', 'h', 0)")


async def test_a_reader_cannot_write(clean_url: str) -> None:
    def vandalise(db: Connection) -> int:
        return db.execute("DELETE FROM threads").rowcount

    brain = PostgresBrain(clean_url, readers=1, patience=0.1)
    await brain.start()
    await begin(brain)
    with pytest.raises(EngineError, match="read-only"):
        await brain._readers.run(vandalise)
    assert await brain.head(KEY) == 2
    await brain.close()


async def test_a_caller_that_gives_up_leaves_the_connection_whole(a: PostgresBrain) -> None:
    def slow(db: Connection, user_id: str) -> object:
        del user_id
        return db.execute("SELECT pg_sleep(0.2), 'late'").fetchone()

    await begin(a)
    for _ in range(4):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(a._readers.run(slow, "ada"), 0.02)
    assert await asyncio.gather(*(a.head(KEY) for _ in range(8))) == [2] * 8


async def test_a_failed_query_leaves_the_connection_whole(a: PostgresBrain) -> None:
    def wrong(db: Connection, user_id: str) -> object:
        db.execute("SELECT 1 / (SELECT count(*) - count(*) FROM threads WHERE user_id = ?)", (user_id,))
        return db.execute("SELECT 1").fetchone()

    await begin(a)
    for _ in range(6):
        with pytest.raises(psycopg.errors.DivisionByZero):
            await a._readers.run(wrong, "ada")
        assert await a._readers.run(careless, "ada") == {"ada"}
    await end(a)


async def test_patience_ends(clean_url: str) -> None:
    brain = PostgresBrain(clean_url, readers=1, patience=0.2)
    await brain.start()
    try:
        await begin(brain)
        await asyncio.to_thread(server().stop, "immediate")
        began = time.monotonic()
        with pytest.raises(EngineError) as told:
            await brain.head(KEY)
        assert told.value.code is ErrorCode.STORAGE_UNAVAILABLE
        assert "DATABASE_URL" in told.value.message
        assert time.monotonic() - began < 5
        health = await brain.health()
        assert not health.ok
    finally:
        server().start()
        await brain.close()


async def test_a_database_that_is_not_there_is_said() -> None:
    with pytest.raises(EngineError) as told:
        await PostgresBrain(server().url("nowhere")).start()
    assert told.value.code is ErrorCode.STORAGE_UNAVAILABLE
    assert "nowhere" in told.value.message


async def test_health_does_not_wait_for_a_server_that_is_gone(a: PostgresBrain) -> None:
    await begin(a)
    await asyncio.to_thread(server().stop, "immediate")
    waiting = [asyncio.create_task(a.head(KEY)) for _ in range(4)]
    try:
        health = await asyncio.wait_for(a.health(), 5)
    finally:
        server().start()
    assert await asyncio.gather(*waiting) == [2] * 4
    assert not health.ok
    assert "DATABASE_URL" in str(health.fault)
    assert (await a.health()).ok


async def test_a_role_that_sees_everything_is_told_of(clean_url: str, caplog: pytest.LogCaptureFixture) -> None:
    name = clean_url.rsplit("/", 1)[1]
    open_database(clean_url)
    assert "superuser" not in caplog.text
    open_database(server().url(name, "postgres"))
    assert "superuser" in caplog.text
