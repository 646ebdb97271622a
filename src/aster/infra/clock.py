"""Time as it is written down: UTC, ISO-8601 with milliseconds and a Z."""

from datetime import UTC, datetime
from functools import lru_cache
from time import time


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return int(time() * 1000)


def iso_ms(ms: int) -> str:
    """`2026-04-27T12:34:56.000Z` for milliseconds since the epoch."""
    seconds, rest = divmod(ms, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def now_iso() -> str:
    return iso_ms(now_ms())
