"""Copies of a brain file: whole though it is written to meanwhile, and never half brought back."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest

from aster.brain.moving import file_copy
from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Phase, TextDelta, ThreadLifecycle

KEY = ThreadKey("ada", "t1")


async def test_a_copy_is_the_brain_at_one_moment(tmp_path: Path) -> None:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    await brain.append(KEY, "turn1", [ThreadLifecycle(phase=Phase.STARTED)])
    done = asyncio.Event()

    async def write() -> None:
        while not done.is_set():
            await brain.append(KEY, "turn1", [TextDelta(text="word ", block_index=0, step=1)] * 20)

    writing = asyncio.create_task(write())
    for number in range(3):
        await asyncio.to_thread(file_copy.keep, tmp_path / "brain.sqlite", tmp_path / f"copy{number}")
    done.set()
    await writing
    await brain.close()
    heads = list[int]()
    for number in range(3):
        copy = tmp_path / f"copy{number}"
        db = sqlite3.connect(copy)
        head, count = db.execute("SELECT max(seq), count(*) FROM thread_events").fetchone()
        db.close()
        assert head == count, "no gaps"
        heads.append(head)
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert heads == sorted(heads)
    assert not list(tmp_path.glob("copy?[-.]*"))


def make(path: Path, version: int | None = None) -> Path:
    with file_copy.FileLock(path):
        file_copy.open_database(path)
    if version is not None:
        db = sqlite3.connect(path)
        db.execute("INSERT INTO schema_migrations VALUES (?, 'later', 1)", (version,))
        db.commit()
        db.close()
    return path


def test_a_brain_with_records_made_of_others_is_whole(tmp_path: Path) -> None:
    brain = make(tmp_path / "brain.sqlite")
    db = sqlite3.connect(brain)
    db.execute("INSERT INTO memory_sources VALUES (16, 'ada', 'fact-1')")
    db.commit()
    assert file_copy.damages(db) == []
    db.close()
    file_copy.keep(brain, tmp_path / "copy")
    file_copy.bring_back(tmp_path / "copy", brain, replace=True)


def test_what_is_damaged_or_too_new_takes_nobodys_place(tmp_path: Path) -> None:
    brain = make(tmp_path / "brain.sqlite")
    before = brain.read_bytes()
    file_copy.keep(brain, tmp_path / "good")
    content = bytearray((tmp_path / "good").read_bytes())
    content[4096:12288] = b"\x55" * 8192
    (tmp_path / "bad").write_bytes(content)
    make(tmp_path / "new", version=9999)
    for name, code in (("bad", ErrorCode.INVALID_REQUEST), ("new", ErrorCode.MIGRATION_REQUIRED)):
        with pytest.raises(EngineError) as refused:
            file_copy.bring_back(tmp_path / name, brain, replace=True)
        assert refused.value.code is code
    assert brain.read_bytes() == before
    assert not list(tmp_path.glob("*.restoring*"))
    assert not list(tmp_path.glob("*.before-*"))
    assert file_copy.bring_back(tmp_path / "good", tmp_path / "elsewhere.sqlite", replace=False) is None


def test_a_copy_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="There is no brain"):
        file_copy.keep(tmp_path / "none", tmp_path / "copy")
    (tmp_path / "notes").write_text("not a brain " * 1000)
    with pytest.raises(EngineError):
        file_copy.keep(tmp_path / "notes", tmp_path / "copy")
    with pytest.raises(EngineError, match="cannot be written"):
        file_copy.keep(make(tmp_path / "brain.sqlite"), tmp_path / "no" / "such" / "folder")
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "copy.part").exists()
