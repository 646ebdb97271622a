"""Keys on the brain, a file or a database, without and beside an engine."""

import asyncio
from pathlib import Path

import pytest

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.sqlite.connection import FileLock
from aster.contracts.errors import EngineError, ErrorCode
from aster.server import keys
from aster.server.auth import hash_key
from tests.postgres import server


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return tmp_path / "data" / "brain.sqlite"


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, brain: Path) -> Path | str:
    return brain if request.param == "file" else request.getfixturevalue("database_url")


def refusal(action: object, *args: object) -> ErrorCode:
    assert callable(action)
    with pytest.raises(EngineError) as refused:
        action(*args)
    return refused.value.code


def test_a_key_is_shown_once_and_kept_as_a_hash(brain: Path) -> None:
    made = keys.create(brain, "laptop", "ada")
    assert made.key.startswith("ak-")
    assert len(made.key) == 3 + 43
    assert keys.listing(brain) == [made.row]
    assert made.row.key_hash == hash_key(made.key)
    stored = b"".join(path.read_bytes() for path in brain.parent.iterdir())
    assert made.key.encode() not in stored


def test_a_name_is_used_once_among_the_keys_that_work(place: Path | str) -> None:
    keys.create(place, "laptop", "ada")
    assert refusal(keys.create, place, "laptop", "bob") is ErrorCode.INVALID_REQUEST
    keys.revoke(place, "laptop")
    keys.create(place, "laptop", "bob")


@pytest.mark.parametrize(
    ("name", "user"), [("", "ada"), ("x" * 65, "ada"), ("a\nb", "ada"), ("a", ""), ("engine", "a")]
)
def test_a_name_has_to_be_fit_for_a_list(brain: Path, name: str, user: str) -> None:
    assert refusal(keys.create, brain, name, user) is ErrorCode.INVALID_REQUEST


def test_revoking_is_by_name_or_id_and_ends_the_replaced_ones_too(place: Path | str) -> None:
    first = keys.create(place, "laptop")
    second = keys.rotate(place, first.row.key_id)
    assert {row.key_id for row in keys.revoke(place, "laptop")} == {first.row.key_id, second.row.key_id}
    assert all(row.revoked_at for row in keys.listing(place))
    assert refusal(keys.revoke, place, "laptop") is ErrorCode.NOT_FOUND


def test_rotating_retires_the_old_key(place: Path | str) -> None:
    old = keys.create(place, "laptop", "ada")
    new = keys.rotate(place, "laptop")
    retired, current = keys.listing(place)
    assert (retired.key_id, current.key_id) == (old.row.key_id, new.row.key_id)
    assert retired.retired_at is not None
    assert (current.user_id, current.name, current.retired_at) == ("ada", "laptop", None)
    assert refusal(keys.rotate, place, "phone") is ErrorCode.NOT_FOUND


def test_a_running_engine_does_not_stand_in_the_way(brain: Path) -> None:
    keys.create(brain, "laptop")
    with FileLock(brain):
        keys.create(brain, "phone")
        assert [row.name for row in keys.listing(brain)] == ["laptop", "phone"]


def test_what_is_no_brain_is_left_alone(brain: Path) -> None:
    brain.parent.mkdir()
    brain.write_text("a letter to a friend, long enough to be no database " * 30)
    assert refusal(keys.listing, brain) is ErrorCode.STORAGE_UNAVAILABLE
    assert brain.read_text().startswith("a letter")


def test_a_database_without_a_brain_gets_one_and_one_of_another_version_does_not(database_url: str) -> None:
    empty = server().fresh(empty=True)
    assert keys.listing(empty) == []
    keys.create(empty, "laptop")
    assert [row.name for row in keys.listing(empty)] == ["laptop"]
    server().drop(empty)
    server().run("DELETE FROM schema_migrations WHERE version > 1", database_url.rsplit("/", 1)[1])
    assert refusal(keys.create, database_url, "laptop") is ErrorCode.MIGRATION_REQUIRED
    assert refusal(keys.listing, "postgresql://aster@127.0.0.1:1/none") is ErrorCode.STORAGE_UNAVAILABLE


async def test_engines_are_told_of_a_key_that_was_made(database_url: str) -> None:
    brain = PostgresBrain(database_url, readers=1)
    await brain.start()
    told = asyncio.Event()
    brain.changes.watch(lambda change: told.set() if change.touches("api_keys") else None)
    await asyncio.to_thread(keys.create, database_url, "laptop")
    async with asyncio.timeout(5):
        await told.wait()
    await brain.close()
