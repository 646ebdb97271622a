"""Copies of skills' files: each user's apart, used only while they are what we would write."""

from pathlib import Path

import pytest

from aster.skills.copies import Copies


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path / "data", tmp_path)


def test_a_copy_is_where_it_is_said_to_be_and_nobody_elses(copies: Copies) -> None:
    assert copies.readable("ann") == ()
    place = copies.place("ann", "pdf", {"scripts/run.py": b"print(1)"})
    assert (place / "scripts/run.py").read_bytes() == b"print(1)"
    assert place == copies.place("ann", "pdf", {"scripts/run.py": b"print(1)"})
    assert place != copies.place("ann", "pdf", {"scripts/run.py": b"print(2)"})
    [mine] = copies.readable("ann")
    assert place.is_relative_to(mine)
    assert copies.readable("bob") == ()
    assert not copies.place("bob", "pdf", {"a": b""}).is_relative_to(mine)


def test_what_was_changed_is_written_anew(copies: Copies) -> None:
    place = copies.place("ann", "pdf", {"run.py": b"good"})
    (place / "run.py").chmod(0o644)
    (place / "run.py").write_bytes(b"evil")
    (place / "more.py").write_bytes(b"evil")
    assert copies.place("ann", "pdf", {"run.py": b"good"}) == place
    assert [path.name for path in place.iterdir()] == ["run.py"]
    assert (place / "run.py").read_bytes() == b"good"


def test_a_directory_of_somebody_elses_is_not_used(copies: Copies, tmp_path: Path) -> None:
    base = copies.place("ann", "pdf", {"a": b""}).parents[1]
    base.chmod(0o777)
    assert copies.readable("ann") == ()
    with pytest.raises(PermissionError):
        copies.place("ann", "pdf", {"a": b""})


def test_they_go_with_their_skill(copies: Copies) -> None:
    gone, other = copies.place("ann", "pdf", {"a": b""}), copies.place("ann", "pdf-forms", {"a": b""})
    copies.drop("ann", "pdf")
    assert not gone.exists()
    assert other.exists()


def test_those_of_an_engine_that_is_gone_are_swept(copies: Copies, tmp_path: Path) -> None:
    for name in ("here", "gone"):
        (tmp_path / name).mkdir()
    here = Copies(tmp_path / "here", tmp_path).place("ann", "pdf", {"a": b""})
    gone = Copies(tmp_path / "gone", tmp_path).place("ann", "pdf", {"a": b""})
    (tmp_path / "gone").rmdir()
    copies.place("ann", "pdf", {"a": b""})
    assert here.exists()
    assert not gone.exists()
