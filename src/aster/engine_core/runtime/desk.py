"""Runtime tasks for people: which there are, what they say, and ending them, from whichever replica.

What is shown is what is on record; only what a command of this engine says is read where it is fresher. A user's tasks
are found through the user, so those of others are not there.
"""

import asyncio
import time
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from aster.brain.runtime import RuntimeKind, RuntimePlace, RuntimeRecord, RuntimeShow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode
from aster.engine_core.orders import Order
from aster.engine_core.services import Services
from aster.utility_directory.background import DESCRIPTION_CHARS
from aster.utility_directory.background_elsewhere import END_SECONDS, LOOK_SECONDS
from aster.utility_directory.background_spool import Piece, Spool

WHY: Final = "a person ended it"


class Heard(NamedTuple):
    """A runtime task as it stands, and what it has said from a position on."""

    record: RuntimeRecord
    piece: Piece


class RuntimeDesk:
    """The runtime tasks of one user."""

    def __init__(self, services: Services, user_id: str) -> None:
        self._services = services
        self._brain = services.brain
        self._user_id = user_id

    async def tasks(
        self,
        *,
        limit: int,
        status: RuntimeShow | None = None,
        task_id: str | None = None,
        kind: RuntimeKind | None = None,
        after: RuntimePlace | None = None,
    ) -> list[RuntimeRecord]:
        """The newest first."""
        found = await self._brain.runtime.tasks(
            self._user_id, limit=limit, status=status, task_id=task_id, kind=kind, after=after
        )
        return [_filled(record) for record in found]

    async def task(self, runtime_id: str) -> RuntimeRecord:
        found = await self._brain.runtime.task(self._user_id, runtime_id)
        if found is None:
            raise EngineError(
                ErrorCode.NOT_FOUND, f"There is no runtime task {runtime_id[:80]!r}.", {"id": runtime_id[:80]}
            )
        return _filled(found)

    async def output(self, runtime_id: str, position: int, limit: int) -> Heard:
        """A page of what a task has said; of an agent that is its last words."""
        record = await self.task(runtime_id)
        running = self._services.background.get(record.key, runtime_id)
        if running is not None:
            return Heard(replace(record, said=running.spool.size), running.spool.read(position, limit))
        if record.ended_at is None and record.kind == "bash":
            return Heard(
                record, await self._services.background.elsewhere.read(record.key, runtime_id, position, limit)
            )
        return Heard(record, (await self.kept(record)).read(position, limit))

    async def kept(self, record: RuntimeRecord) -> Spool:
        """All that is kept of what a task has said that has ended."""
        if record.kind == "agent":
            return Spool.restored(await self._brain.runtime.last_words(self._user_id, record.runtime_id), 0)
        found = (
            None if record.artifact_id is None else await self._brain.artifact(self._user_id, record.artifact_id)
        )
        return Spool.restored((b"" if found is None else found[1]).decode("utf-8", "replace"), record.left_out)

    async def news(self, record: RuntimeRecord, position: int, seconds: float) -> None:
        """Wait until there may be more to hear than up to a position, or so long."""
        running = self._services.background.get(record.key, record.runtime_id)
        seconds = min(seconds, LOOK_SECONDS)
        if running is not None:
            await running.wait(seconds, position + 1)
        elif record.kind == "bash":
            await self._services.background.elsewhere.news(seconds)
        else:
            with self._brain.subscribe(record.key, await self._brain.head(record.key)) as thread:
                await thread.next(seconds)

    async def kill(self, runtime_id: str) -> RuntimeRecord:
        """End a task with all it has started; as it stands when it has ended, or when that takes too long."""
        record = await self.task(runtime_id)
        if record.ended_at is not None:
            return record
        if record.kind == "bash":
            await self._kill_command(record)
        else:
            await self._dismiss(record)
        return await self.task(runtime_id)

    async def _kill_command(self, record: RuntimeRecord) -> None:
        background = self._services.background
        running = background.get(record.key, record.runtime_id)
        if running is None:
            known = await background.record(record.key, record.runtime_id)
            if known is not None and background.elsewhere.runs(known):
                await background.elsewhere.stop(known, WHY)
            return
        running.stop(WHY)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await running.over.wait()

    async def _dismiss(self, record: RuntimeRecord) -> None:
        for child in await self._brain.subagents_of(record.key):
            if child.child_task_id == record.child_task_id and child.ended_at is None:
                await self._services.offspring.dismiss(child)
        until = time.monotonic() + END_SECONDS
        while record.ended_at is None and time.monotonic() < until:
            await self.news(record, 0, LOOK_SECONDS / 10)
            record = await self.task(record.runtime_id)


class Following:
    """A place in what a runtime task says; `next` goes on from there."""

    def __init__(self, desk: RuntimeDesk, record: RuntimeRecord, position: int, page: int) -> None:
        self._desk = desk
        self._page = page
        self._kept: Spool | None = None
        self.record = record
        self.position = position
        self.over = False

    async def next(self, seconds: float) -> Piece:
        """What was said since, at once or within so many seconds; `over` when that was the last of it."""
        piece = await self._read()
        if not piece.text and not self.over and seconds > 0:
            await self._desk.news(self.record, self.position, seconds)
            piece = await self._read()
        self.position = max(piece.next, self.position)
        return piece

    async def _read(self) -> Piece:
        if self._kept is None:
            self.record, piece = await self._desk.output(self.record.runtime_id, self.position, self._page)
            if self.record.ended_at is None:
                return piece
            self._kept = await self._desk.kept(self.record)
        piece = self._kept.read(self.position, self._page)
        self.over = not piece.more
        return piece


def _filled(record: RuntimeRecord) -> RuntimeRecord:
    """With what an agent was begun for, which is in its order."""
    if record.order is None:
        return record
    order = decode(record.order, Order)
    wake = order.parent is not None and order.parent.wake
    description = " ".join(order.message.split())[:DESCRIPTION_CHARS]
    return replace(record, description=description, wake=wake, order=None)
