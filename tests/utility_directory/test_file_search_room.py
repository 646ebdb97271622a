"""All indexes together stay within their room; the newest stay, and those in use."""

import os
from pathlib import Path

from aster.utility_directory.file_search_room import MAX_BYTES, MAX_INDEXES, make_room


def indexes(directory: Path, count: int, size: int = 0) -> list[Path]:
    """Files as old as their number is high; of the given size, without taking it."""
    out = [directory / f"{number}.sqlite" for number in range(count)]
    for number, path in enumerate(out):
        path.touch()
        os.truncate(path, size)
        os.utime(path, (1_000_000 - number, 1_000_000 - number))
    (directory / f"{count - 1}.sqlite-wal").touch()
    return out


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    made = indexes(tmp_path, MAX_INDEXES + 5)
    make_room(tmp_path / "new.sqlite", {made[-2]})
    assert sorted(tmp_path.iterdir()) == sorted([*made[: MAX_INDEXES - 1], made[-2]])


def test_the_oldest_go_when_they_are_too_large(tmp_path: Path) -> None:
    made = indexes(tmp_path, 5, MAX_BYTES // 3)
    make_room(tmp_path / "new.sqlite", ())
    assert sorted(tmp_path.iterdir()) == made[:3]


def test_an_index_that_is_used_becomes_the_newest(tmp_path: Path) -> None:
    made = indexes(tmp_path, MAX_INDEXES + 5)
    make_room(made[-1], ())
    assert len(list(tmp_path.glob("*.sqlite"))) == MAX_INDEXES + 5
    make_room(tmp_path / "new.sqlite", ())
    assert made[-1].exists()
    make_room(tmp_path / "nowhere" / "new.sqlite", ())
