"""Time as it is written down: UTC, ISO-8601 with milliseconds and a Z."""

from datetime import UTC, datetime
from time import time


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return int(time() * 1000)


def iso_ms(ms: int) -> str:
    """`2026-04-27T12:34:56.000Z` for milliseconds since the epoch."""
    seconds, rest = divmod(ms, 1000)
    stamp = datetime.fromtimestamp(seconds, UTC)
    return f"{stamp:%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"


def now_iso() -> str:
    return iso_ms(now_ms())
