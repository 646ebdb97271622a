"""Replays over the wire: run a recorded turn again, look at what came of it, take a recording away."""

import asyncio
from typing import Any, Final
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract
from aster.contracts.replay import MemorySet, Recording, ReplayReport, ReplaySummary, Unrecorded

FIRST_LOOK: Final = 0.05
LONGEST: Final = 1.0


class ReplayBegun(Contract):
    """A replay that goes on by itself."""

    status: str
    task_id: str
    replay_task_id: str


class ReplayPage(Contract):
    replays: tuple[ReplaySummary, ...]


class ReplaysClient:
    """The part of a client that is about replays."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def run(
        self,
        task_id: str,
        *,
        turn_id: str | None = None,
        from_seq: int | None = None,
        model: str | None = None,
        instructions: str | None = None,
        agent: str | None = None,
        memory: MemorySet | None = None,
        without: tuple[str, ...] = (),
        unrecorded: Unrecorded | None = None,
        max_usd: float | None = None,
    ) -> ReplayReport:
        """Replay a turn, the newest if none is named, and wait for its end. Nothing is run or changed by it."""
        said: dict[str, Any] = {
            "turn_id": turn_id,
            "from_seq": from_seq,
            "model": model,
            "instructions": instructions,
            "agent": agent,
            "memory": memory,
            "without": without or None,
            "unrecorded": unrecorded,
            "max_usd": max_usd,
        }
        body = {name: value for name, value in said.items() if value is not None} | {"wait": False}
        begun = await self._wire.ask(ReplayBegun, "POST", f"{_path(task_id)}/replay", body=body)
        wait = FIRST_LOOK
        while (found := await self.report(task_id, begun.replay_task_id)).status == "running":
            await asyncio.sleep(wait)
            wait = min(LONGEST, wait * 1.5)
        return found

    async def report(self, task_id: str, replay_task_id: str) -> ReplayReport:
        """What a replay came to, or has come to so far."""
        path = f"{_path(task_id)}/replays/{quote(replay_task_id, safe='')}"
        return await self._wire.ask(ReplayReport, "GET", path)

    async def list(self, task_id: str) -> tuple[ReplaySummary, ...]:
        """The replays of a task, the newest first."""
        return (await self._wire.ask(ReplayPage, "GET", f"{_path(task_id)}/replays")).replays

    async def recording(self, task_id: str, turn_id: str | None = None) -> Recording:
        """A turn as it can be replayed elsewhere, the newest if none is named."""
        return await self._wire.ask(Recording, "GET", f"{_path(task_id)}/recording", params={"turn_id": turn_id})


def _path(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}"
