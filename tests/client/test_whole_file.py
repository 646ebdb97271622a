"""A file is there whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from aster.client.whole_file import whole_file


def _interrupted(to: Path) -> None:
    with whole_file(to) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_what_ends_early_changes_nothing(tmp_path: Path) -> None:
    kept, neighbour = tmp_path / "kept", tmp_path / "kept.part"
    kept.write_text("before")
    neighbour.write_text("somebody's own")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(kept)
    assert kept.read_text() == "before"
    with whole_file(kept) as file:
        file.write(b"after")
        assert kept.read_text() == "before"
    assert kept.read_text() == "after"
    assert neighbour.read_text() == "somebody's own"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept.part"]


def test_a_private_file_is_its_owners_alone_also_where_an_open_one_was(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.touch(mode=0o644)
    with whole_file(kept, private=True) as file:
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in tmp_path.glob(".*.part"))
        file.write(b"secret")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_link_stays_one_and_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    with whole_file(link) as file:
        file.write(b"through")
    assert link.is_symlink()
    assert real.read_bytes() == b"through"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as file:
            file.write(b"on its way")
        assert os.read(reader, 100) == b"on its way"
        assert pipe.is_fifo()
    finally:
        os.close(reader)
