"""A move carries everything or nothing, and numbers that were given once are never given again."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from aster.brain.memory_records import MemoryRow
from aster.brain.moving.end import End
from aster.brain.moving.move import Moved, move
from aster.brain.moving.places import opened_source, opened_target
from aster.brain.postgres.brain import open_database
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.place import QUEUE, shown
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import forgetting, index, writing
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.cluster.dbos_queue import SCHEMA
from aster.infra.ids import new_id
from tests.postgres import server


def row(content: str) -> MemoryRow:
    fields = {"content": content, "subject": "", "predicate": "", "type": "fact", "source": ""}
    return MemoryRow(
        id=new_id("fact"),
        user_id="ada",
        kind="fact",
        fields=fields,
        extractor="test",
        created_at=1,
        event_at=1,
        valid_from=1,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three records, of which the last was forgotten; two turns' notes out of the order of their names."""
    path = tmp_path / "brain.sqlite"
    with opened_target(str(path)) as end, end.transaction():
        done = writing.write(end.db, [row("The dog\x00 sleeps"), row("The car is red"), row("The tea is hot")])
        forgetting.forget(end.db, "ada", [done[2].row.id])
        for name in ("zebra", "ant", "mole"):
            end.db.execute(
                "INSERT INTO artifacts VALUES (?, 1, 'ada', 't', 'c', 'n', 'text/plain', 1, 'x', ?, 5)",
                (name, b"\x00\xff"),
            )
        end.db.execute(
            "INSERT INTO subagents (child_turn_id, thread_id, user_id) VALUES ('child', 1, 'ada')"
        )  # its body is an empty text in a column of bytes
    return path


@pytest.fixture(params=["file", "database"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "target.sqlite") if request.param == "file" else request.getfixturevalue("database_url")


def carried(source: str, target: str, told: list[str] | None = None) -> Moved:
    def progress(what: str, done: int, of: int) -> None:
        assert 0 < done <= of
        if told is not None:
            told.append(what)

    with opened_source(source) as one, opened_target(target) as other:
        return move(one, other, lambda first, second: 0, progress)


def texts(db: Connection) -> list[str]:
    return [text for (text,) in db.execute("SELECT content FROM knowledge_store ORDER BY number").fetchall()]


def test_everything_is_there_in_its_order(path: Path, target: str) -> None:
    told: list[str] = []
    moved = carried(str(path), target, told)
    assert {"knowledge_store", "words", "knowledge_store (compared)"} <= set(told)
    assert moved.indexed == 2
    with opened_source(target) as end, end.transaction():
        assert texts(end.db) == ["The dog\ufffd sleeps", "The car is red"]
        found = [rows for batch in end.read("artifacts", ["artifact_id", "data"]) for rows in batch]
        assert found == [("zebra", b"\x00\xff"), ("ant", b"\x00\xff"), ("mole", b"\x00\xff")]
        assert index.keyword(end.db, "ada", "knowledge", ["dog"], 5).keys() == {1}
        assert end.db.execute("SELECT body FROM subagents").fetchone()[0] in (b"", "")
    again = carried(target, f"{path}.back")
    assert [one for one in again.tables if one.table != "subagents"] == [
        one for one in moved.tables if one.table != "subagents"
    ]


def test_a_number_that_was_given_is_not_given_again(path: Path, target: str) -> None:
    carried(str(path), target)
    with opened_target(target) as end, end.transaction():
        (written,) = writing.write(end.db, [row("The lamp is lit")])
        assert written.row.number == 4
        forgetting.forget(end.db, "ada", [written.row.id])
        assert end.db.execute("SELECT max(due) FROM memory_scrubs").fetchone()[0] == 2


def test_rows_that_come_later_get_numbers_of_their_own(path: Path, target: str) -> None:
    thread = (
        "INSERT INTO threads (user_id, task_id, created_at, updated_at) VALUES ('ada', ?, 1, 1) RETURNING thread_id"
    )
    spent = (
        "INSERT INTO usage (user_id, task_id, turn_id, model, input_tokens, output_tokens, cache_read_tokens,"
        " cache_write_tokens, ts) VALUES ('ada', 'one', '', 'm', 1, 1, 0, 0, 1) RETURNING usage_id"
    )
    with opened_target(str(path)) as end, end.transaction():
        for name in ("one", "two", "three"):
            end.db.execute(thread, (name,)).fetchone()
            end.db.execute(spent).fetchone()
    carried(str(path), target)
    with opened_target(target) as end, end.transaction():
        assert end.db.execute(thread, ("four",)).fetchone()[0] == 4
        assert end.db.execute(spent).fetchone()[0] == 4
        index.shelf(end.db, "bob", "knowledge")
        end.db.execute("INSERT INTO memory_models (fingerprint, role) VALUES ('new', 'current')")


def test_a_move_that_fails_leaves_nothing(path: Path, target: str) -> None:
    def fail(first: Connection, second: Connection) -> int:
        assert texts(second)
        raise EngineError(ErrorCode.INTERNAL, "no")

    with opened_source(str(path)) as one, opened_target(target) as other, pytest.raises(EngineError):
        move(one, other, fail, lambda *_: None)
    with opened_target(target) as end:
        assert all(end.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0 for table in end.tables())
    assert carried(str(path), target).indexed == 2


def test_an_index_that_does_not_fit_its_records_is_refused(path: Path, target: str) -> None:
    with opened_target(str(path)) as end:
        end.db.execute("UPDATE memory_shelves SET words = words + 1")
    with pytest.raises(EngineError, match="the shelves count"):
        carried(str(path), target)


def test_a_full_target_and_an_open_source_are_refused(path: Path, target: str, tmp_path: Path) -> None:
    carried(str(path), target)
    with pytest.raises(EngineError, match="not empty"):
        carried(str(path), target)
    with ExitStack() as stack:
        stack.enter_context(opened_source(target))
        with pytest.raises(EngineError, match=r"has this brain open|Engines are connected"):
            stack.enter_context(opened_source(target))
    with pytest.raises(EngineError, match="There is no brain"), opened_source(str(tmp_path / "none")):
        pass


def test_who_reads_a_database_of_running_engines_leaves_it_as_it_is() -> None:
    url = server().fresh(empty=True)
    with pytest.raises(EngineError, match="There is no brain in"), opened_source(url, live=True):
        pass
    assert server().run("SELECT 1 FROM pg_tables WHERE schemaname = 'public'", url.rsplit("/", 1)[1]) == []
    server().drop(url)


def test_no_engine_starts_in_the_middle_of_a_move(database_url: str) -> None:
    with ThreadPoolExecutor(1) as other:
        with opened_target(database_url) as end, end.transaction():
            starting = other.submit(open_database, database_url)
            with pytest.raises(TimeoutError):
                starting.result(0.3)
        assert starting.result(10) == []


def test_an_engine_of_any_name_is_seen(database_url: str) -> None:
    engine = PostgresConnection(f"{database_url}?application_name=mine")
    with pytest.raises(EngineError, match="Engines are connected"), opened_target(database_url):
        pass
    engine.close()


def test_a_brain_that_is_brought_in_has_no_queue_of_another(path: Path, database_url: str) -> None:
    assert QUEUE == SCHEMA
    name = database_url.rsplit("/", 1)[1]
    server().run(f"CREATE SCHEMA {QUEUE} AUTHORIZATION aster; CREATE TABLE {QUEUE}.done (turn TEXT)", name)
    server().run(f"ALTER TABLE {QUEUE}.done OWNER TO aster", name)
    carried(str(path), database_url)
    assert server().run(f"SELECT 1 FROM pg_namespace WHERE nspname = '{QUEUE}'", name) == []


def test_a_target_that_reads_back_otherwise_is_refused(path: Path, database_url: str) -> None:
    class Lossy:
        """A database that forgets a byte."""

        def __init__(self, end: End) -> None:
            self._end = end

        def __getattr__(self, name: str) -> object:
            return getattr(self._end, name)

        def add(self, table: str, columns: list[str], rows: list[tuple[object, ...]]) -> None:
            self._end.add(table, columns, [tuple(b"" if v == b"\x00\xff" else v for v in row) for row in rows])

    with (
        opened_source(str(path)) as one,
        opened_target(database_url) as other,
        pytest.raises(EngineError, match="reads back other than it was written"),
    ):
        move(one, Lossy(other), lambda *_: 0, lambda *_: None)  # pyright: ignore[reportArgumentType]


def test_an_address_is_told_without_its_password() -> None:
    assert shown("postgresql://me:secret@db.local:6432/brain?sslmode=require") == "postgresql://db.local:6432/brain"
