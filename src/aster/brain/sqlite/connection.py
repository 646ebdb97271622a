"""Opening the brain file: the same pragmas everywhere, and a lock so that two engines never share one brain."""

import fcntl
import os
import sqlite3
from pathlib import Path
from types import TracebackType

from aster.brain.sqlite.dialect import DIALECT
from aster.contracts.errors import EngineError, ErrorCode

BUSY_MS = 5000


class BrainConnection(sqlite3.Connection):
    """A connection that knows its dialect."""

    dialect = DIALECT


def looked_at(path: Path) -> BrainConnection:
    """A connection for a short look: it changes nothing, and makes no file that is not there."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, factory=BrainConnection)


def connect(path: Path, *, readonly: bool = False) -> BrainConnection:
    """A connection in autocommit mode: transactions are begun and ended by us, in so many words."""
    connection = sqlite3.connect(
        path,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
        timeout=BUSY_MS / 1000,
        factory=BrainConnection,
    )
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA temp_store = MEMORY")
    if readonly:
        connection.execute("PRAGMA query_only = ON")
    else:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 2000")
        connection.execute("PRAGMA secure_delete = ON")
    return connection


class FileLock:
    """Held by the one engine that has the brain open; the kernel drops it when the process dies."""

    def __init__(self, brain: Path) -> None:
        self._path = brain.with_name(brain.name + ".lock")
        self._fd: int | None = None

    def acquire(self) -> None:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode(errors="replace").strip()
            os.close(fd)
            raise EngineError(
                ErrorCode.STORAGE_UNAVAILABLE,
                f"Another engine (process {holder or 'unknown'}) has this brain open. "
                "Stop it, or give this one a brain of its own with SQLITE_DB_PATH.",
                {"lock": self._path.name},
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> "FileLock":
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
