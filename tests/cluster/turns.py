"""Turns that go on while a test does something to them: begun on one replica, followed by its client."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import psycopg

from aster.contracts.errors import ErrorCode
from tests.cluster.replicas import Replica
from tests.live import Seen, Stream


def using(tool: str, rounds: int = 1, **given: Any) -> str:
    """A message that has a tool called, so many times one after the other."""
    return f"[[text=5 tools={rounds} tool={tool} input={json.dumps(given)}]] Do it."


class Going:
    """A turn, and what its client has seen of it."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._reading = asyncio.create_task(self._read())
        self._news = asyncio.Event()

    async def _read(self) -> None:
        try:
            while await self.stream.next() is not None:
                self._news.set()
        except httpx2.TransportError:
            pass  # its engine was killed
        finally:
            self._news.set()

    async def seen(self, event: str, seconds: float = 20.0, **fields: Any) -> Seen:
        """The first frame of this type with these fields, as soon as there is one."""
        async with asyncio.timeout(seconds):
            while True:
                for frame in self.stream.seen:
                    if frame.event == event and all(
                        frame.data.get(name) == value for name, value in fields.items()
                    ):
                        return frame
                assert not self._reading.done(), f"no {event} {fields} in {[one.event for one in self.stream.seen]}"
                self._news.clear()
                await self._news.wait()

    async def ended(self, seconds: float = 20.0) -> list[Seen]:
        async with asyncio.timeout(seconds):
            await asyncio.shield(self._reading)
        return self.stream.seen

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


@asynccontextmanager
async def going(replica: Replica, message: str, task_id: str, **body: Any) -> AsyncGenerator[Going]:
    """A turn that was begun on a replica."""
    sent = {"message": message, "task_id": task_id, **body}
    async with AsyncExitStack() as stack:
        response = await _begun(replica, sent, stack)
        turn = Going(Stream(response))
        try:
            yield turn
        finally:
            await turn.close()


async def _begun(replica: Replica, sent: dict[str, Any], stack: AsyncExitStack) -> httpx2.Response:
    """Where much else goes on, a replica may be taken for silent in its first moments: it says so, and joins again."""
    async with asyncio.timeout(20):
        while True:
            response = await stack.enter_async_context(replica.http.stream("POST", "/execute", json=sent))
            if response.status_code == 200:
                return response
            refused = json.loads(await response.aread())
            assert refused["error"] == ErrorCode.STORAGE_UNAVAILABLE, refused
            await asyncio.sleep(0.2)


async def thread(replica: Replica, task_id: str) -> list[dict[str, Any]]:
    """Everything on a thread, as this replica tells it."""
    found: list[dict[str, Any]] = []
    while True:
        after = found[-1]["seq"] if found else 0
        page = (await replica.http.get(f"/tasks/{task_id}/events", params={"after_seq": after})).json()
        found += page["events"]
        if not page["events"] or found[-1]["seq"] >= page["head_seq"]:
            return found


async def phase(replica: Replica, task_id: str, wanted: str, seconds: float = 20.0) -> list[dict[str, Any]]:
    """The thread as soon as it has a lifecycle event of this phase."""
    async with asyncio.timeout(seconds):
        while True:
            events = await thread(replica, task_id)
            if any(one["type"] == "thread_lifecycle" and one["phase"] == wanted for one in events):
                return events
            await asyncio.sleep(0.05)


def whole(events: list[dict[str, Any]]) -> bool:
    """No seq is missing and none is there twice; every call has one result."""
    seqs = [event["seq"] for event in events]
    calls = {event["tool_call_id"] for event in events if event["type"] == "tool_call"}
    results = [event["tool_call_id"] for event in events if event["type"] == "tool_result"]
    return seqs == list(range(1, len(seqs) + 1)) and calls <= set(results) and len(results) == len(set(results))


def of_type(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


async def used(replica: Replica) -> int:
    """Slots in use."""
    return (await replica.http.get("/health")).json()["subsystems"]["slots"]["used"]


async def owner(database_url: str, task_id: str) -> str | None:
    """The replica that has the turn of a task."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as db:
        await db.execute("SELECT set_config('aster.user', '*', false)")
        found = await db.execute("SELECT owner FROM threads WHERE task_id = %s", (task_id,))
        row = await found.fetchone()
    return row[0] if row is not None else None
