"""Statements as PostgreSQL wants them: `?` becomes `$1`, `$2`, … once for each text, and what a statement does to the
tables is read off its first words, so that other replicas can be told."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

_MARKS: Final = re.compile(r"'(?:[^']|'')*'|\?")
_CHANGED: Final = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)", re.IGNORECASE)
_BEGINS: Final = re.compile(r"\s*BEGIN\b", re.IGNORECASE)
_EDGES: Final = re.compile(r"\s*(?:SAVEPOINT|RELEASE|ROLLBACK|COMMIT)\b", re.IGNORECASE)


class Statement(NamedTuple):
    text: bytes
    table: str | None
    """What it changes."""
    begins: bool
    """A transaction begins: nothing that was sent before belongs to it."""
    edge: bool
    """A part of a transaction begins or ends, or all of it ends: what failed in it must be known by then."""


@lru_cache(4096)
def statement(sql: str) -> Statement:
    count = 0

    def numbered(mark: re.Match[str]) -> str:
        nonlocal count
        if mark[0] != "?":
            return mark[0]
        count += 1
        return f"${count}"

    text = _MARKS.sub(numbered, sql)
    changed = _CHANGED.match(sql)
    table = changed[1] if changed else None
    return Statement(text.encode(), table, _BEGINS.match(sql) is not None, _EDGES.match(sql) is not None)
