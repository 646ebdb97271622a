"""Diagnostic events: failures a client has to know of, and signs of life.

`heartbeat` and `reconnect` are sent to connected clients only; they are not on the thread and have no
sequence number of their own.
"""

from typing import Any

from aster.contracts.errors import ErrorCode, Retry
from aster.contracts.events.base import Event


class Heartbeat(Event, tag="heartbeat"):
    """Nothing else was sent for a while; `seq` is the newest event this client has."""


class ErrorEvent(Event, tag="error"):
    error: ErrorCode
    message: str
    retry: Retry = "never"
    details: dict[str, Any] | None = None


class Reconnect(Event, tag="reconnect"):
    """This engine is going away; ask again after `after_seq` in `retry_ms`."""

    after_seq: int
    retry_ms: int
