"""Migrations on a real file: all or nothing, forward only, never touching a newer brain."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import available, migrate, statements

Package = str


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "brain.sqlite", isolation_level=None)
    yield connection
    connection.close()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for packages of migrations, importable."""
    place = tmp_path / "shelf"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    return place


def package(shelf: Path, name: str, **scripts: str) -> Package:
    folder = shelf / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    for stem, sql in scripts.items():
        (folder / f"{stem.removeprefix('m')}.sql").write_text(sql)
    return name


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_they_run_in_order_once(db: sqlite3.Connection, shelf: Path) -> None:
    ours = package(shelf, "in_order", m0002_b="ALTER TABLE a ADD y;", m0001_a="CREATE TABLE a (x);")
    assert [m.version for m in available(ours)] == [1, 2]
    assert [m.name for m in migrate(db, ours)] == ["0001_a.sql", "0002_b.sql"]
    assert migrate(db, ours) == []
    assert [row[0] for row in db.execute("SELECT version FROM schema_migrations")] == [1, 2]


def test_only_what_is_new_runs_and_it_is_told_how_far_it_is(
    db: sqlite3.Connection, shelf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    migrate(db, package(shelf, "old_release", m0001_a="CREATE TABLE a (x);"))
    assert not caplog.messages, "a brain that is made has nothing to be brought up to"
    newer = package(shelf, "new_release", m0001_a="CREATE TABLE a (x);", m0002_b="CREATE TABLE b (x);")
    assert [m.name for m in migrate(db, newer)] == ["0002_b.sql"]
    assert caplog.messages == ["the brain is brought up to date: 0002_b.sql (1 of 1)"]


def test_a_failure_leaves_the_brain_as_it_was(db: sqlite3.Connection, shelf: Path) -> None:
    migrate(db, package(shelf, "good", m0001_a="CREATE TABLE a (x);"))
    broken = package(
        shelf,
        "broken",
        m0001_a="CREATE TABLE a (x);",
        m0002_b="CREATE TABLE b (x);\nINSERT INTO b VALUES (1);",
        m0003_c="CREATE TABLE c (x);\nINSERT INTO nowhere VALUES (1);",
    )
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, broken)
    assert not db.in_transaction
    assert tables(db) == {"a", "schema_migrations"}


def test_a_brain_from_a_newer_engine_is_refused_and_not_touched(db: sqlite3.Connection, shelf: Path) -> None:
    migrate(db, package(shelf, "next_year", m0001_a="CREATE TABLE a (x);", m0009_z="CREATE TABLE z (x);"))
    before = list(db.execute("SELECT * FROM schema_migrations"))
    ours = package(shelf, "this_year", m0001_a="CREATE TABLE a (x);", m0002_b="CREATE TABLE b (x);")
    with pytest.raises(EngineError) as caught:
        migrate(db, ours)
    assert caught.value.code is ErrorCode.MIGRATION_REQUIRED
    assert caught.value.details == {"brain": 9, "engine": 2}
    assert list(db.execute("SELECT * FROM schema_migrations")) == before
    assert tables(db) == {"a", "z", "schema_migrations"}


def test_a_script_is_cut_where_a_statement_ends() -> None:
    script = """
    CREATE TABLE a (x TEXT DEFAULT ';');  -- a comment; with a semicolon
    CREATE TRIGGER t AFTER INSERT ON a BEGIN
        UPDATE a SET x = 'one; two';
        DELETE FROM a;
    END;
    INSERT INTO a VALUES ('last')"""
    assert [part.split()[0] for part in statements(script)] == ["CREATE", "CREATE", "INSERT"]
    assert list(statements("\n  \n")) == []


def test_a_process_killed_in_the_middle_changes_nothing(tmp_path: Path, shelf: Path) -> None:
    package(shelf, "killed", m0001_a="CREATE TABLE a (x);\nSELECT die();")
    path = tmp_path / "killed.sqlite"
    script = (
        "import os, signal, sqlite3, sys\n"
        "from aster.infra.migrations import migrate\n"
        f"sys.path.insert(0, {str(shelf)!r})\n"
        f"db = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        "db.create_function('die', 0, lambda: os.kill(os.getpid(), signal.SIGKILL))\n"
        "migrate(db, 'killed')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -9
    db = sqlite3.connect(path)
    assert tables(db) == set()
    db.close()


def test_two_engines_starting_together_migrate_once(tmp_path: Path, shelf: Path) -> None:
    package(shelf, "together", m0001_a="CREATE TABLE a (x);\nINSERT INTO a VALUES (1);")
    path = tmp_path / "together.sqlite"
    script = (
        "import sqlite3, sys\n"
        "from aster.infra.migrations import migrate\n"
        f"sys.path.insert(0, {str(shelf)!r})\n"
        f"db = sqlite3.connect({str(path)!r}, isolation_level=None, timeout=10)\n"
        "print(len(migrate(db, 'together')))\n"
    )
    racing = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate()[0].strip() for process in racing)
    assert said == ["0", "1"]


def test_the_shipped_migrations_build_a_whole_brain(db: sqlite3.Connection) -> None:
    shipped = available("aster.brain.sqlite.migrations")
    assert [m.version for m in shipped] == list(range(1, len(shipped) + 1))
    assert migrate(db, "aster.brain.sqlite.migrations") == shipped
    assert {"threads", "thread_events", "turns", "observability_events"} <= tables(db)
    assert migrate(db, "aster.brain.sqlite.migrations") == []
