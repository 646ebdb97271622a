"""Exit codes: what a script can tell from how `aster` ended."""

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    NEEDS_HUMAN = 3
    CANCELLED = 130
