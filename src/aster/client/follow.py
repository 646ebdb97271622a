"""Following a thread over as many connections as it takes, with no gap and no duplicate.

The reader's place is the last sequence number it has handed on; every new connection asks for what comes after it.
Heartbeats and `reconnect` belong to a connection, not to the thread, and are used up here.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

import httpx2

from aster.client.callbacks import call
from aster.client.records import TaskDetail
from aster.client.wire import EngineUnreachable, Wire
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import (
    AnyEvent,
    Heartbeat,
    Reconnect,
    TaskLifecycle,
    ThreadLifecycle,
    UnknownEvent,
    UserMessage,
    decode_event,
)
from aster.contracts.sse import SseParser

ThreadEvent: TypeAlias = AnyEvent | UnknownEvent
OnWait: TypeAlias = Callable[[EngineError | None, float], None]
"""Called before every pause: what went wrong (None when the engine said goodbye) and for how many seconds."""

_FIRST_WAIT = 0.05
_LONGEST_WAIT = 5.0
_FIRST_LOOK = 0.1
_LONGEST_LOOK = 1.0
"""How often a task that does nothing is looked at."""


class Patience:
    """When to look for the engine again, and when to stop looking. Every event that arrives restores it."""

    def __init__(self, wire: Wire, seconds: float, on_wait: OnWait | None = None) -> None:
        self._wire = wire
        self._seconds = seconds
        self._on_wait = on_wait
        self.restore()

    def restore(self) -> None:
        self.calm()
        self._until = time.monotonic() + self._seconds

    def calm(self) -> None:
        """The engine answers: the next pause is a short one, but the time to give up stays."""
        self._failures = 0

    async def wait(self, error: EngineError | None, at_least: float = 0.0) -> None:
        """Wait before the next attempt; raises the error when there is to be none."""
        if error is not None and not (self._wire.met and _passing(error) and time.monotonic() < self._until):
            raise error
        delay = min(_FIRST_WAIT * 2**self._failures, _LONGEST_WAIT) * (0.5 + random.random() / 2)  # noqa: S311
        self._failures = min(self._failures + 1, 16)
        asked = 0.0 if error is None else error.retry_after or 0.0
        delay = max(delay, asked, at_least)
        if self._on_wait is not None:
            await call(self._on_wait, error, delay)
        await asyncio.sleep(delay)


def _passing(error: EngineError) -> bool:
    """Whether the same request may well succeed in a moment."""
    return isinstance(error, EngineUnreachable) or error.code in (
        ErrorCode.DRAINING,
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.RATE_LIMITED,
        ErrorCode.INTERNAL,
    )


@dataclass(slots=True)
class Reader:
    """A place on a thread. With a turn or a message named, it is done when the turn that took it has ended."""

    wire: Wire
    task_id: str
    seq: int
    patience: Patience
    turn_id: str | None = None
    message_id: str | None = None
    subagents: bool = True
    done: bool = False
    _taken: bool = False
    _turn_ended: bool = False
    _reconnect_in: float | None = None

    @property
    def addressed(self) -> bool:
        """Whether a turn is waited for, and not merely the end of the stream."""
        return self.turn_id is not None or self.message_id is not None

    def address(self, response: httpx2.Response) -> None:
        """Take from an answer to `/execute` which turn to wait for."""
        self.turn_id = response.headers.get("x-turn-id")
        self.message_id = response.headers.get("x-message-id")

    async def read(self, response: httpx2.Response) -> AsyncGenerator[ThreadEvent]:
        """What one connection has to say from here on; a cut of it is `EngineUnreachable`."""
        self._reconnect_in = None
        parser = SseParser()
        async with aclosing(self.wire.chunks(response)) as chunks:
            async for chunk in chunks:
                for frame in parser.feed(chunk):
                    event = decode_event(frame.data)
                    self.patience.restore()
                    if isinstance(event, Reconnect):
                        self._reconnect_in = event.retry_ms / 1000
                        return
                    if isinstance(event, Heartbeat) or event.seq <= self.seq:
                        continue
                    self.seq = event.seq
                    self._note(event)
                    yield event
                    self.patience.restore()  # whoever reads may have taken their time
                    if self.done:
                        return
        self.done = self._turn_ended

    async def resume(self, error: EngineError | None = None) -> AsyncGenerator[ThreadEvent]:
        """Everything after here, over new connections, until the turn (or with none named, the stream) ends."""
        pause = error is not None or self._reconnect_in is not None
        while not self.done:
            if pause:
                await self.patience.wait(error, self._reconnect_in or 0.0)
            pause, error, before = True, None, self.seq
            params = {"task_id": self.task_id, "after_seq": self.seq}
            params |= {} if self.subagents else {"subagents": "false"}
            try:
                opening = self.wire.open("GET", "/execute/replay", params=params)
                async with opening as response, aclosing(self.read(response)) as events:
                    async for event in events:
                        yield event
                if not self.done and self._reconnect_in is None:
                    self.done = not self.addressed or (self.seq == before and await self._idle())
            except EngineError as failure:
                error = failure

    async def watch(self) -> AsyncGenerator[ThreadEvent]:
        """Everything after here, through all turns to come; it never ends by itself."""
        idle = _FIRST_LOOK
        while True:
            before, self.done = self.seq, False
            async with aclosing(self.resume()) as events:
                async for event in events:
                    yield event
            idle = _FIRST_LOOK if self.seq > before else min(2 * idle, _LONGEST_LOOK)
            await asyncio.sleep(idle)

    async def _idle(self) -> bool:
        """Whether the task does nothing and has nothing to do, so that what is waited for will not come."""
        task = await self.wire.ask(TaskDetail, "GET", f"/tasks/{quote(self.task_id, safe='')}")
        return task.active_turn_id is None and not task.inbox

    def _note(self, event: ThreadEvent) -> None:
        match event:
            case UserMessage(message_id=message_id, turn_id=turn_id) if message_id == self.message_id:
                self.turn_id, self._taken = turn_id, True
            case TaskLifecycle(phase="dequeued", message_id=str(message_id)) if message_id == self.message_id:
                self.done = True
            case ThreadLifecycle(phase=phase, turn_id=turn_id, depth=0) if phase.final and turn_id == self.turn_id:
                self._turn_ended = turn_id is not None
                self.done = self._turn_ended and (self._taken or self.message_id is None)
            case _:
                pass
