"""What the server heard: one record per model call, and a way to wait for them.

A record is complete from the moment its request was read; its times are filled in as the reply goes out.
All times are `time.monotonic()`, comparable between processes of one machine.
"""

import asyncio
from typing import Any, Literal

from msgspec import Struct

from aster.testing.conversation import Conversation

Protocol = Literal["anthropic", "openai", "responses", "gemini"]


class RecordedCall(Struct, eq=False):
    """One model call. `disconnected` means that the client left before the reply was out."""

    protocol: Protocol
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    conversation: Conversation
    arrived: float
    first_sent: float | None = None
    ended: float | None = None
    disconnected: bool = False
    status: int | None = None
    answered_by: str = ""

    def began(self, at: float) -> None:
        self.first_sent = at

    def summary(self) -> dict[str, Any]:
        """The record as plain data, without the parsed conversation: its body says the same."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "conversation"}
        return {**fields, "text": self.text, "round": self.round}

    @property
    def text(self) -> str:
        """The last thing the user said."""
        return self.conversation.text

    @property
    def round(self) -> int:
        """How many tool results came since the user spoke."""
        return len(self.conversation.results)


class CallLog:
    """The calls in order of arrival. With a limit only the newest are kept, but all are counted."""

    def __init__(self, limit: int | None = None) -> None:
        self.calls: list[RecordedCall] = []
        self.arrived = 0
        self.ended = 0
        self._open: set[RecordedCall] = set()
        self._limit = limit
        self._news = asyncio.Event()

    def add(self, call: RecordedCall) -> None:
        self.calls.append(call)
        if self._limit is not None and len(self.calls) > self._limit:
            del self.calls[0]
        self.arrived += 1
        self._open.add(call)
        self._announce()

    def end(self, call: RecordedCall, at: float, *, disconnected: bool) -> None:
        call.ended = at
        call.disconnected = disconnected
        if call in self._open:
            self._open.remove(call)
            self.ended += 1
            self._announce()

    @property
    def active(self) -> int:
        return len(self._open)

    def clear(self) -> None:
        """Forgets every call, those that are still being answered too."""
        self.calls.clear()
        self._open.clear()
        self.arrived = self.ended = 0

    def _announce(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, count: int, timeout: float, *, ended: bool) -> None:
        try:
            async with asyncio.timeout(timeout):
                while (self.ended if ended else self.arrived) < count:
                    await self._news.wait()
        except TimeoutError:
            raise TimeoutError(
                f"waited {timeout} s for {count} calls: {self.arrived} arrived, {self.ended} ended"
            ) from None
