"""The tables: the same on both brains, each user's rows behind a policy, migrated by one process at a time."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aster.brain.postgres.brain import MIGRATIONS, PostgresBrain, open_database
from aster.brain.sqlite.brain import MIGRATIONS as FILE_MIGRATIONS
from aster.brain.sqlite.brain import open_database as open_file
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.migrations import available
from tests.brain.thread import begin, end
from tests.postgres import server

INDEX = ("memory_words", "memory_postings", "memory_terms")
"""The full-text index of SQLite and what it keeps its own things in."""
OWN = {
    "memory_claims": "taken by replicas",
    "memory_words": "the index of SQLite is a virtual table",
    "writers": "a file always answers",
}
"""Tables that only one of the two has, and why."""
OF_RECORDS = {"memory_vectors", "memory_touched", "memory_tokens", "memory_words"}
"""What is made of users' records, and theirs through these."""


def columns(database_url: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for table, column in server().run(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
        database_url.rsplit("/", 1)[1],
    ):
        found.setdefault(table, set()).add(column)
    return found


def test_both_brains_have_the_same_tables(clean_url: str, tmp_path: Path) -> None:
    open_file(tmp_path / "brain.sqlite")
    with closing(sqlite3.connect(tmp_path / "brain.sqlite")) as db:
        names = [
            name
            for (name,) in db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        filed = {name: {row[1] for row in db.execute(f"PRAGMA table_info({name})")} for name in names}
    filed = {name: held for name, held in filed.items() if not name.startswith(("memory_words", "memory_postings"))}
    filed.pop("memory_terms", None)
    stored = {name: held - {"rowid"} for name, held in columns(clean_url).items() if name not in OWN}
    assert stored == filed


def test_both_brains_are_at_the_same_version() -> None:
    assert available(MIGRATIONS)[-1].version == available(FILE_MIGRATIONS)[-1].version


def test_every_table_of_users_is_behind_a_policy(clean_url: str) -> None:
    of_users = {name for name, held in columns(clean_url).items() if "user_id" in held}
    guarded = server().run(
        "SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid"
        " WHERE c.relrowsecurity AND c.relforcerowsecurity",
        clean_url.rsplit("/", 1)[1],
    )
    assert {name for (name,) in guarded} == of_users | OF_RECORDS
    assert len(of_users) > 30


async def test_a_newer_database_is_refused_and_not_touched(database_url: str) -> None:
    name = database_url.rsplit("/", 1)[1]
    server().run("INSERT INTO schema_migrations VALUES (9999, '9999_next.sql', 0)", name)
    with pytest.raises(EngineError) as refused:
        await PostgresBrain(database_url).start()
    assert refused.value.code is ErrorCode.MIGRATION_REQUIRED
    assert server().run("SELECT max(version) FROM schema_migrations", name) == [(9999,)]


async def test_processes_that_start_at_once_migrate_once() -> None:
    url = server().fresh(empty=True)
    script = f"from aster.brain.postgres.brain import open_database; print(len(open_database({url!r})))"
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
        for _ in range(3)
    ]
    counts = sorted([int((await process.communicate())[0]) for process in started])
    assert counts == [0, 0, len(available(MIGRATIONS))]
    brain = PostgresBrain(url)
    await brain.start()
    await begin(brain)
    await end(brain)
    await brain.close()
    server().drop(url)


def test_a_migration_that_fails_leaves_the_database_as_it_was() -> None:
    url = server().fresh(empty=True)
    name = url.rsplit("/", 1)[1]
    server().run("CREATE TABLE logins (x int)", name)
    with pytest.raises(EngineError) as failed:
        open_database(url)
    assert failed.value.code is ErrorCode.STORAGE_UNAVAILABLE
    assert columns(url) == {"logins": {"x"}}
    server().drop(url)
