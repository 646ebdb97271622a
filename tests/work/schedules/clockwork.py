"""An engine whose clock a test sets, and what a test asks of its schedules."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from aster.testing import ModelServer
from tests.live import Live, live

PROMPT = "[[text=3]] Do it."


class Hands:
    """The hands of a clock; it stands still until it is moved."""

    def __init__(self, at: str = "2026-11-16T08:00:00", zone: str = "UTC") -> None:
        self.ms = int(datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)

    def __call__(self) -> int:
        return self.ms

    def forward(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)


@asynccontextmanager
async def timed(model: ModelServer, hands: Hands, **settings: Any) -> AsyncGenerator[Live]:
    async with live(model, now=hands, **settings) as engine:
        yield engine


async def made(engine: Live, **body: Any) -> dict[str, Any]:
    """A schedule that was made."""
    answer = await engine.http.post("/schedules", json={"prompt": PROMPT, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def schedule(engine: Live, found: dict[str, Any]) -> dict[str, Any]:
    return (await engine.http.get(f"/schedules/{found['schedule_id']}")).json()


async def occurrences(engine: Live, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every time that was due, the oldest first."""
    answer = await engine.http.get(f"/schedules/{found['schedule_id']}/occurrences", params={"limit": 200})
    return answer.json()["occurrences"][::-1]


async def settled(
    engine: Live, found: dict[str, Any], *statuses: str, seconds: float = 15.0
) -> list[dict[str, Any]]:
    """Wait until its times stand so, the oldest first."""
    rows: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(seconds):
            while [row["status"] for row in rows] != list(statuses):
                await asyncio.sleep(0.05)
                rows = await occurrences(engine, found)
    except TimeoutError:
        raise AssertionError(f"{[(row['status'], row['reason']) for row in rows]} is not {statuses}") from None
    return rows


async def heard(engine: Live, hands: Hands, found: dict[str, Any], count: int = 1) -> list[dict[str, Any]]:
    """Time passes until its model has answered so many times, all there were."""

    async def all_heard() -> bool:
        hands.forward(1)
        return [row["status"] for row in await occurrences(engine, found)] == ["acknowledged"] * count

    await until(all_heard)
    return await occurrences(engine, found)


async def until(holds: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Wait for something to be so; what it was."""
    async with asyncio.timeout(seconds):
        while not (found := await holds()):
            await asyncio.sleep(0.05)
    return found


async def told(engine: Live, task_id: str, kind: str) -> list[dict[str, Any]]:
    """What a thread says of this kind."""
    return [frame.data for frame in await engine.replay(task_id=task_id, after_seq=0) if frame.event == kind]


async def ticks(count: int = 2) -> None:
    """So many looks of the clock pass."""
    await asyncio.sleep(count * 0.6)
