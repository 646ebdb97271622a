"""The stream: committed frames as they are, in order, until the turn a client waits for has ended.

This is the hottest path of the server. A stream holds a place on a thread and nothing else; all that is new at a
wake-up goes out in one write, and a slow client only delays itself. When the client goes, the stream goes; the turn
does not notice.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, Final, Protocol
from urllib.parse import quote

from fastapi.responses import Response
from starlette.types import Message, Receive, Scope, Send

from aster.brain.fanout import Subscription
from aster.brain.records import Frame
from aster.contracts.events import (
    Event,
    Grade,
    Heartbeat,
    Reconnect,
    TaskLifecycle,
    UserMessage,
    decode_event,
    type_of,
)
from aster.contracts.model import encode
from aster.engine_core.engine import Engine
from aster.engine_core.orders import Ticket
from aster.infra.clock import now_iso

MEDIA_TYPE: Final = "text/event-stream"
RETRY_MS: Final = 1000
HEADERS: Final[dict[str, str]] = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

_TELLING: Final = frozenset({"user_message", "task_lifecycle"})
_PRINTABLE_ASCII: Final = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


class Ending(Protocol):
    """When a stream is over, and the turn it follows as far as that is known."""

    turn_id: str | None

    def cut(self, frames: list[Frame]) -> int | None:
        """How many of these frames are still part of the stream; None when all are and it goes on."""
        ...


class TurnEnd:
    """Over when this turn has ended."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id: str | None = turn_id

    def cut(self, frames: list[Frame]) -> int | None:
        for index, item in enumerate(frames):
            if item.grade == Grade.END and item.turn_id == self.turn_id:
                return index + 1
        return None


class NoEnd:
    """Over when whoever reads it goes."""

    turn_id: str | None = None

    def cut(self, frames: list[Frame]) -> int | None:
        del frames
        return None


class MessageEnd:
    """Over when the turn that takes this message has ended, or when the message is dropped before any does."""

    def __init__(self, message_id: str) -> None:
        self.turn_id: str | None = None
        self._message_id = message_id
        self._turn: TurnEnd | None = None

    def cut(self, frames: list[Frame]) -> int | None:
        if self._turn is not None:
            return self._turn.cut(frames)
        for index, item in enumerate(frames):
            if item.type not in _TELLING:
                continue
            event = decode_event(item.json)
            if isinstance(event, UserMessage) and event.message_id == self._message_id and item.turn_id:
                self.turn_id = item.turn_id
                self._turn = TurnEnd(item.turn_id)
                rest = self._turn.cut(frames[index:])
                return None if rest is None else index + rest
            if (
                isinstance(event, TaskLifecycle)
                and event.phase == "dequeued"
                and event.message_id == self._message_id
            ):
                return index + 1
        return None


def ending_of(ticket: Ticket) -> Ending:
    return MessageEnd(ticket.message_id) if ticket.queued else TurnEnd(ticket.turn_id)


def header_text(value: str) -> str:
    """Any text as a header value: what is not plain ASCII, and `%`, is percent-encoded."""
    return quote(value, safe=_PRINTABLE_ASCII)


def own(frames: list[Frame]) -> list[Frame]:
    """The frames without what is shown of sub-agents; what those ask a person stays."""
    return [item for item in frames if item.grade != Grade.SHOWN]


class EventStream(Response):
    """Follows a subscription from where it stands; the subscription is closed when the stream is over. Without
    `subagents` it leaves out what those do."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        engine: Engine,
        task_id: str,
        subscription: Subscription,
        ending: Ending,
        headers: Mapping[str, str],
        *,
        subagents: bool = True,
    ) -> None:
        super().__init__(None, headers={**HEADERS, **headers})
        del self.headers["content-length"]
        self._engine = engine
        self._task_id = task_id
        self._subscription = subscription
        self._ending = ending
        self._subagents = subagents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raven = self._engine.raven
        raven.stream_opened()
        try:
            with self._subscription:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await while_connected(receive, self._follow(send))
        finally:
            raven.stream_closed()

    async def _follow(self, send: Send) -> None:
        engine, subscription, ending = self._engine, self._subscription, self._ending
        interval = engine.settings.heartbeat_seconds
        clock = asyncio.get_running_loop().time
        said_at = clock()
        while True:
            leaving = engine.leaving
            frames = await subscription.next(0 if leaving else max(0.0, said_at + interval - clock()))
            if not self._subagents:
                frames = own(frames)
            if frames:
                count = ending.cut(frames)
                if count is not None:
                    await send(_body(frames[:count], more=False))
                    return
                await send(_body(frames, more=True))
                said_at = clock()
            elif leaving:
                await send(_chunk(self._goodbye(), more=False))
                return
            elif clock() - said_at >= interval:
                await send(_chunk(self._heartbeat(), more=True))
                said_at = clock()

    def _heartbeat(self) -> bytes:
        return unstored(
            Heartbeat(
                task_id=self._task_id,
                turn_id=self._ending.turn_id,
                seq=self._subscription.seq,
                timestamp=now_iso(),
            )
        )

    def _goodbye(self) -> bytes:
        return unstored(
            Reconnect(
                task_id=self._task_id,
                turn_id=self._ending.turn_id,
                seq=self._subscription.seq,
                timestamp=now_iso(),
                after_seq=self._subscription.seq,
                retry_ms=RETRY_MS,
            )
        )


class PagedStream(Response):
    """Sends pages of frames and ends; for what is read and not followed."""

    media_type = MEDIA_TYPE

    def __init__(self, pages: AsyncIterator[list[Frame]], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(None, headers={**HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await while_connected(receive, self._copy(send))

    async def _copy(self, send: Send) -> None:
        async for frames in self._pages:
            if frames:
                await send(_body(frames, more=True))
        await send(_chunk(b"", more=False))


async def while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Run until the work is done or the client has gone, whichever is first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone = not working.done()
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
    if not gone:
        working.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def unstored(event: Event) -> bytes:
    """The frame of an event that is on no thread: it has no `id:`, so a client's place does not move."""
    return b"event: %s\ndata: %s\n\n" % (type_of(event).encode(), encode(event))


def _body(frames: list[Frame], *, more: bool) -> Message:
    data = frames[0].data if len(frames) == 1 else b"".join([item.data for item in frames])
    return _chunk(data, more=more)


def _chunk(data: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}
