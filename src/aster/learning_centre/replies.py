"""What a worker model answered, read as JSON: whatever it thought before, put around it or said after it.

What cannot be read is nothing, never a guess: a reply without an object teaches nothing.
"""

import json
import re
from typing import Any, Final, cast

from aster.contracts.model import writable

MOST_CHARS: Final = 200_000
MOST_OBJECTS: Final = 50
_THOUGHT: Final = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_DECODER: Final = json.JSONDecoder(strict=False)


def read(text: str) -> dict[str, Any] | None:
    """The object a reply consists of: the largest, if it holds several; None when there is none."""
    said = _THOUGHT.sub("", text[:MOST_CHARS])
    _, closed, rest = said.rpartition("</think>")
    said = rest if closed else said
    best: tuple[int, dict[str, Any]] | None = None
    at = said.find("{")
    for _ in range(MOST_OBJECTS):
        if at < 0:
            break
        end = at + 1
        try:
            value, end = _DECODER.raw_decode(said, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and (best is None or end - at > best[0]):
            best = end - at, cast("dict[str, Any]", value)
        at = said.find("{", end)
    return writable(best[1]) if best is not None else None


def rows(data: dict[str, Any] | None, name: str, most: int) -> list[dict[str, Any]]:
    """The objects under a name of a reply, as many as are wanted at most."""
    found = data.get(name) if data is not None else None
    some = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("dict[str, Any]", one) for one in some if isinstance(one, dict)][:most]


def words(row: dict[str, Any], name: str, most: int = 2000) -> str:
    """A text of a row; empty when there is none, or something else."""
    value = row.get(name)
    return " ".join(value.split())[:most] if isinstance(value, str) else ""
