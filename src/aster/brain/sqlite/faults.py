"""Which failures of SQLite pass by themselves: the disk is full, busy or failing, and the same statement may go through
later. Any other is a defect of what was to be written."""

import sqlite3
from typing import Final

_PASSING: Final = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    )
)


def passing(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _PASSING
