"""A turn over which the engine dies again and again is given up; one that gets on in between is not."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from aster.client.client import AsterClient
from aster.contracts.errors import EngineError
from aster.contracts.events import ErrorEvent, Event, Recovery, TextDelta, ThreadLifecycle
from tests.process import Process, engine

ENDLESS = "[[text=5000 rate=50]] Talk."


async def until(client: AsterClient, kind: type[Event], count: int = 1) -> Sequence[Event]:
    """The thread as soon as it has so many events of a kind."""
    async with asyncio.timeout(20):
        while True:
            events: Sequence[Event] = ()
            try:
                events = [event async for event in client.thread("t1")]
            except EngineError:
                pass  # the task is not there yet
            if sum(isinstance(event, kind) for event in events) >= count:
                return events
            await asyncio.sleep(0.05)


async def test_a_turn_that_kills_the_engine_over_and_over_is_given_up(tmp_path: Path, upstream: Process) -> None:
    host = engine(tmp_path, upstream.url, CRASH_LIMIT="2")
    await host.up()
    async with AsterClient(host.url, patience=30) as client:
        following = asyncio.create_task(_follow(host))
        await until(client, TextDelta)
        await host.kill()
        await host.up()
        events = await until(client, Recovery)
        assert not any(isinstance(event, ErrorEvent) for event in events)
        await host.kill()
        await host.up()
        events = await until(client, ErrorEvent)
        await following
        (error,) = (event for event in events if isinstance(event, ErrorEvent))
        assert error.error == "TURN_CRASHED"
        last = events[-1]
        assert isinstance(last, ThreadLifecycle)
        assert (last.phase.value, last.stop_reason) == ("errored", "dead_letter")
        again = [event async for event in client.execute("[[text=3]] Hello?", "t1")]
        assert isinstance(again[-1], ThreadLifecycle)
        assert again[-1].phase.value == "completed"
    await host.kill()


async def test_stopping_an_engine_is_no_crash(tmp_path: Path, upstream: Process) -> None:
    host = engine(tmp_path, upstream.url, CRASH_LIMIT="1", DRAIN_SECONDS="0")
    await host.up()
    async with AsterClient(host.url, patience=30) as client:
        following = asyncio.create_task(_follow(host))
        await until(client, TextDelta)
        await host.stop()
        await host.up()
        events = await until(client, Recovery)
        assert not any(isinstance(event, ErrorEvent) for event in events)
        await client.cancel("t1")
        await following
    await host.kill()


async def _follow(host: Process) -> None:
    async with AsterClient(host.url, patience=60) as client:
        async for _ in client.execute(ENDLESS, "t1"):
            pass
