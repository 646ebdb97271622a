"""Feedback over the wire: say what one thinks of a turn, a message or a memory, list it and take it back."""

from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract

Rating: TypeAlias = float | Literal["up", "down"]


class SignalRecord(Contract):
    """What was said of a thing."""

    signal_id: str
    target: str
    target_id: str
    rating: float | None = None
    text: str = ""
    correction: str = ""
    task_id: str | None = None
    turn_id: str | None = None
    created_at: str = ""
    updated_at: str = ""


class SignalPage(Contract):
    signals: tuple[SignalRecord, ...]
    next: int | None = None


class TakenBack(Contract):
    status: str
    signal_id: str


class FeedbackClient:
    """The part of a client that is about feedback."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def give(
        self,
        *,
        turn_id: str | None = None,
        message_id: str | None = None,
        memory_id: str | None = None,
        task_id: str | None = None,
        rating: Rating | None = None,
        text: str | None = None,
        correction: str | None = None,
    ) -> SignalRecord:
        """Of one thing; said again, it replaces what was said before. A message needs its task."""
        said: dict[str, Any] = {
            "turn_id": turn_id,
            "message_id": message_id,
            "memory_id": memory_id,
            "task_id": task_id,
            "rating": rating,
            "text": text,
            "correction": correction,
        }
        body = {name: value for name, value in said.items() if value is not None}
        return await self._wire.ask(SignalRecord, "POST", "/feedback", body=body)

    async def list(
        self, *, target: str | None = None, task_id: str | None = None, limit: int = 50, before: int | None = None
    ) -> SignalPage:
        """One page, newest first."""
        params = {"target": target, "task_id": task_id, "limit": limit, "before": before}
        return await self._wire.ask(SignalPage, "GET", "/feedback", params=params)

    async def take_back(self, signal_id: str) -> TakenBack:
        return await self._wire.ask(TakenBack, "DELETE", f"/feedback/{quote(signal_id, safe='')}")
