"""Three replicas on one PostgreSQL while everything fails that can: nothing may be lost, doubled or left hanging.

Clients reach a replica by chance and come back to another one with their place on the thread. `make chaos-cluster` runs
it with thirty faults and three hundred turns; in CI it is smaller.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aster.client.client import AsterClient
from tests.chaos.faults import Cluster, cluster
from tests.chaos.tales import Story, answer_everything, check_tale, follow, story

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]

CLIENTS = 10
SILENCE = 3.0
"""Replicas say something every second: one that is silent for longer is left for another."""
LONGEST_TURN = 90.0
RATE = 40
"""Words a second: slow enough for faults to fall into answers."""


async def test_nothing_is_lost_with_many_replicas(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    faults, turns = (int(request.config.getoption(name) or 1) for name in ("--chaos-faults", "--chaos-turns"))
    seed = int(request.config.getoption("--chaos-seed") or time.time())
    print(f"\nchaos seed {seed}: {faults} faults, at least {turns} turns")
    chance = random.Random(seed)
    try:
        async with cluster(tmp_path, chance) as on:
            tales, slowest = await endure(on, faults, turns)
            tally = await check_everything(on, tales)
    except BaseException:
        print((tmp_path / "engine.log").read_text()[-6000:])
        raise
    print(f"{dict(on.happened)}\n{dict(tally)}, the slowest turn took {slowest:.1f} s")
    assert tally["turns"] == tally["completed"] >= turns
    assert sum(on.happened.values()) >= faults
    assert tally["effects"] > 0, "no command ran: the test does not test"
    hit = tally["recovered"] + tally["reissued"] + tally["in_doubt"]
    assert hit > 0, "no fault hit a turn: the test does not test"


async def endure(on: Cluster, faults: int, turns: int) -> tuple[list[Story], float]:
    """Clients tell one tale after another until all faults have happened and there were turns enough."""
    tales: list[Story] = []
    slowest = 0.0
    over = False

    async def client() -> None:
        nonlocal slowest
        while not over or len(tales) < turns:
            tale = story(len(tales), on.workspace, on.chance, RATE)
            tales.append(tale)
            began = time.monotonic()
            async with asyncio.timeout(LONGEST_TURN):
                await follow(on.balancer.url, tale, patience=LONGEST_TURN, silence=SILENCE)
            slowest = max(slowest, time.monotonic() - began)

    async with answered(on.balancer.url), asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(client())
        for fault in on.schedule(faults):
            await asyncio.sleep(on.chance.uniform(0.3, 2.0))
            print(f"  {len(tales)} turns, then {fault.__name__}", flush=True)
            await fault()
            on.happened[fault.__name__] += 1
        over = True
    return tales, slowest


@asynccontextmanager
async def answered(url: str) -> AsyncGenerator[None]:
    """Somebody answers what is asked, as long as this lasts."""
    person = asyncio.create_task(answer_everything(url, silence=SILENCE))
    try:
        yield
    finally:
        person.cancel()
        await asyncio.gather(person, return_exceptions=True)


async def check_everything(on: Cluster, tales: list[Story]) -> Counter[str]:
    """Every tale adds up, seen from any replica, and nothing is left running or waiting."""
    tally: Counter[str] = Counter()
    for number, tale in enumerate(tales):
        async with AsterClient(on.engines[number % len(on.engines)].url) as client:
            tally += await check_tale(client, tale)
    async with AsterClient(on.balancer.url) as client:
        for status in ("running", "suspended"):
            left = (await client.tasks(status=status)).tasks
            assert not left, f"stuck: {left}"
        assert not await client.pending()
    return tally
