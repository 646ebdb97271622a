"""Which failures of PostgreSQL pass by themselves: the server is gone, restarting, full or read-only, or two
transactions stood in each other's way. Any other is a defect of what was to be written."""

from typing import Final

import psycopg

from aster.contracts.errors import EngineError, ErrorCode

_PASSING: Final = frozenset(
    (
        "25006",  # a standby, or a disk that was made read-only
        "25P03",  # this session was idle in a transaction for too long: the process had been stopped
        "25P04",
        "55P03",
        "57P01",
        "57P02",
        "57P03",
        "57P05",
        "58030",
    )
)
_PASSING_CLASSES: Final = ("08", "40", "53")
_COLLISIONS: Final = ("40P01", "40001")


def passing(error: BaseException) -> bool:
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    if error.diag.severity_nonlocalized in ("FATAL", "PANIC"):  # the connection is gone, whatever for
        return True
    return error.sqlstate in _PASSING or error.sqlstate.startswith(_PASSING_CLASSES)


def collision(error: BaseException) -> bool:
    """Two transactions wanted the same rows: the next try is likely to go through, and need not wait."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _COLLISIONS


def unreachable(error: Exception) -> EngineError:
    return EngineError(
        ErrorCode.STORAGE_UNAVAILABLE,
        f"The database cannot be reached: {str(error).strip()}. Try again when it is back, or check DATABASE_URL.",
    )
