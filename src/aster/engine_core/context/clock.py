"""When a message was said, as the model is told: with the message itself, and the same for ever after.

A clock at the top of the prompt would move everything below it at every call; this one moves nothing. The zone is
written down with the time, so a later change of the setting leaves old messages as they are.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from aster.infra.settings import NO_CLOCK

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def stamp(ms: int, time_zone: str) -> str | None:
    """A time as it is kept with a message; None when models are not to be told."""
    return None if time_zone == NO_CLOCK else _minute(ms // 60_000, time_zone)


def shown(said_at: str) -> str:
    """A kept time as the model reads it; as it stands if it is not one."""
    try:
        at = datetime.fromisoformat(said_at)
    except ValueError:
        return f"<time>{said_at}</time>"
    zone = "UTC" if not at.utcoffset() else f"UTC{said_at[16:]}"
    return f"<time>{_DAYS[at.weekday()]} {at:%Y-%m-%d %H:%M} {zone}</time>"


@lru_cache(maxsize=8)
def _minute(minutes: int, time_zone: str) -> str:
    zone = UTC if time_zone == "UTC" else ZoneInfo(time_zone)
    return datetime.fromtimestamp(minutes * 60, zone).isoformat(timespec="minutes")
