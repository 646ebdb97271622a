"""`kill -9` at random moments, many times: after each the engine is started again and everything must add up.

Every turn reaches an end, threads are gapless, every tool call has exactly one result, a command that cannot be
repeated never ran twice, and a client that reconnects has the same text as the thread.
"""

import asyncio
import random
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

from aster.client.client import AsterClient
from tests.chaos.tales import Story, answer_everything, check_tale, follow, story
from tests.process import Process, engine, model

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


async def kill_and_restart(process: Process, chance: random.Random) -> None:
    await asyncio.sleep(chance.uniform(0.0, 0.7))
    await process.kill()
    await process.up()


async def test_nothing_is_lost(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kills = int(request.config.getoption("--chaos-kills") or 1)
    seed = int(request.config.getoption("--chaos-seed") or time.time())
    print(f"chaos seed {seed}, {kills} kills")
    chance = random.Random(seed)
    upstream, host = model(tmp_path), None
    await upstream.up()
    try:
        host = engine(tmp_path, upstream.url)
        await kill_while_migrating(host, tmp_path / "brain.sqlite", chance)
        await host.up()
        workspace = tmp_path / "workspaces" / "default"
        tally: Counter[str] = Counter()
        for number in range(kills):
            tales = [story(number * 4 + offset, workspace, chance) for offset in range(4)]
            await one_round(host, tales, chance)
            tally += await check_round(host.url, tales)
        print(dict(tally))
        assert tally["completed"] == tally["turns"]
        assert tally["recovered"] > 0, "no kill hit a model stream: the test does not test"
    except BaseException:
        print((tmp_path / "engine.log").read_text()[-5000:])
        raise
    finally:
        if host is not None:
            await host.stop()
        await upstream.stop()


async def kill_while_migrating(host: Process, brain: Path, chance: random.Random) -> None:
    """The first starts die somewhere between opening the file and serving; the brain must not mind."""
    for _ in range(6):
        await host.spawn()
        await asyncio.sleep(chance.uniform(0.2, 0.9))
        await host.kill()
        if brain.exists():
            with sqlite3.connect(brain) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            db.close()


async def one_round(host: Process, tales: list[Story], chance: random.Random) -> None:
    person = asyncio.create_task(answer_everything(host.url))
    clients = [asyncio.create_task(follow(host.url, tale)) for tale in tales]
    try:
        await kill_and_restart(host, chance)
        async with asyncio.timeout(60):
            await asyncio.gather(*clients)
    finally:
        for task in (person, *clients):
            task.cancel()
        await asyncio.gather(person, *clients, return_exceptions=True)


async def check_round(url: str, tales: list[Story]) -> Counter[str]:
    tally: Counter[str] = Counter()
    async with AsterClient(url) as client:
        for tale in tales:
            tally += await check_tale(client, tale)
    return tally
