"""A brain file kept in another file and brought back. Keeping needs no pause: the copy is the brain as it was at one
moment, whoever writes to it meanwhile. Bringing back never leaves half a brain: the copy is whole before it takes the
place of what was there, and that is put aside."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aster.brain.sql import queries
from aster.brain.sqlite.brain import MIGRATIONS, open_database
from aster.brain.sqlite.connection import FileLock, looked_at
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms
from aster.infra.migrations import available

HEADER: Final = b"SQLite format 3\x00"
_MOST_DAMAGES: Final = 1_000_000


def keep(brain: Path, to: Path) -> None:
    """Copy a brain, with an engine running on it or not."""
    if not brain.is_file():
        raise EngineError(ErrorCode.NOT_FOUND, f"There is no brain at {brain}.")
    with aside(to) as draft:
        _copied(brain, draft)
        examined(draft)


def bring_back(copy: Path, brain: Path, *, replace: bool) -> Path | None:
    """Make a copy the brain, which no engine has open; where what was there before has been put, if there was any."""
    brain.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(brain):
        if brain.exists() and not replace:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"There is a brain at {brain}. Say --replace to put it aside, or use another.",
            )
        draft = brain.with_name(f"{brain.name}.restoring")
        draft.unlink(missing_ok=True)
        try:
            _copied(copy, draft)
            examined(draft)
            before = _put_aside(brain) if brain.exists() else None
            draft.replace(brain)
        finally:
            draft.unlink(missing_ok=True)
        open_database(brain)
        return before


@contextmanager
def aside(path: Path) -> Generator[Path]:
    """A file that appears under its name when it is whole, and not before; an older one is never overwritten."""
    if path.exists():
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"{path} exists, and backups are not overwritten. Choose another name."
        )
    draft = path.with_name(f"{path.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(0o600)
    except OSError as error:
        raise EngineError(ErrorCode.STORAGE_UNAVAILABLE, f"{path} cannot be written: {error}.") from error
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def examined(copy: Path) -> None:
    """See that a file is a brain that this engine can use, whole."""
    newest = available(MIGRATIONS)[-1].version
    try:
        db = looked_at(copy)
        try:
            damage = damages(db)
            version = queries.ping(db)
        finally:
            db.close()
    except sqlite3.Error as error:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{copy} is not a brain: {error}.") from error
    if damage:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{copy} is damaged: {damage[0]}.")
    if version > newest:
        raise EngineError(
            ErrorCode.MIGRATION_REQUIRED,
            f"{copy} is of version {version}, this engine knows {newest}. Use the newer engine.",
        )


def damages(db: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with a file. SQLite 3.40 also calls NULL what is none, in a table without row ids whose
    key is not all at its beginning (`memory_sources`): no damage is told by that alone."""
    found = (said for (said,) in db.execute(f"PRAGMA quick_check({_MOST_DAMAGES})"))
    return [said for said in found if said != "ok" and not said.startswith("NULL value in ")]


def single(copy: Path) -> None:
    """Leave no log beside a file that nobody is to write to."""
    db = sqlite3.connect(copy)
    db.execute("PRAGMA journal_mode = DELETE")
    db.close()


def _copied(source: Path, target: Path) -> None:
    """In one step, so that nobody who writes meanwhile makes it begin again."""
    try:
        reading, writing = looked_at(source), sqlite3.connect(target)
        try:
            reading.backup(writing)
        finally:
            reading.close()
            writing.close()
        single(target)
        target.chmod(0o600)
    except (sqlite3.Error, OSError) as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"{source} could not be copied to {target}: {error}."
        ) from error


def _put_aside(brain: Path) -> Path:
    """Out of the way with the log beside it, unopened: it may be damaged."""
    before = brain.with_name(f"{brain.name}.before-{now_ms()}")
    brain.rename(before)
    for suffix in ("-wal", "-shm"):
        beside = brain.with_name(brain.name + suffix)
        if beside.exists():
            beside.rename(before.with_name(before.name + suffix))
    return before
