"""Keys on the brain file, without and beside an engine."""

from pathlib import Path

import pytest

from aster.brain.sqlite.connection import FileLock
from aster.contracts.errors import EngineError, ErrorCode
from aster.server import keys
from aster.server.auth import hash_key


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return tmp_path / "data" / "brain.sqlite"


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


def test_a_name_is_used_once_among_the_keys_that_work(brain: Path) -> None:
    keys.create(brain, "laptop", "ada")
    assert refusal(keys.create, brain, "laptop", "bob") is ErrorCode.INVALID_REQUEST
    keys.revoke(brain, "laptop")
    keys.create(brain, "laptop", "bob")


@pytest.mark.parametrize(
    ("name", "user"), [("", "ada"), ("x" * 65, "ada"), ("a\nb", "ada"), ("a", ""), ("engine", "a")]
)
def test_a_name_has_to_be_fit_for_a_list(brain: Path, name: str, user: str) -> None:
    assert refusal(keys.create, brain, name, user) is ErrorCode.INVALID_REQUEST


def test_revoking_is_by_name_or_id_and_ends_the_replaced_ones_too(brain: Path) -> None:
    first = keys.create(brain, "laptop")
    second = keys.rotate(brain, first.row.key_id)
    assert {row.key_id for row in keys.revoke(brain, "laptop")} == {first.row.key_id, second.row.key_id}
    assert all(row.revoked_at for row in keys.listing(brain))
    assert refusal(keys.revoke, brain, "laptop") is ErrorCode.NOT_FOUND


def test_rotating_retires_the_old_key(brain: Path) -> None:
    old = keys.create(brain, "laptop", "ada")
    new = keys.rotate(brain, "laptop")
    retired, current = keys.listing(brain)
    assert (retired.key_id, current.key_id) == (old.row.key_id, new.row.key_id)
    assert retired.retired_at is not None
    assert (current.user_id, current.name, current.retired_at) == ("ada", "laptop", None)
    assert refusal(keys.rotate, brain, "phone") is ErrorCode.NOT_FOUND


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
