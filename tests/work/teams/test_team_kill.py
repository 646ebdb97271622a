"""An engine that dies while a team works: the next one goes on with everybody, nothing is lost and nothing is done or
told twice."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from aster.testing import Hold, ModelServer, Reply, Text
from tests.process import Process, engine
from tests.work.teams.chores import begun, finished, nothing_lost_nothing_doubled, worker
from tests.work.teams.drills import Drill


@asynccontextmanager
async def hosted(directory: Path, model: ModelServer) -> AsyncGenerator[tuple[Process, httpx2.AsyncClient]]:
    host = engine(directory, model.url, TASK_TITLES="false")
    await host.up()
    try:
        async with httpx2.AsyncClient(base_url=host.url, timeout=20, trust_env=False) as http:
            yield host, http
    finally:
        await host.kill()


async def test_a4_a_turn_that_was_killed_is_taken_over_with_its_work(tmp_path: Path) -> None:
    async with ModelServer() as model, hosted(tmp_path, model) as (host, http):
        own = Drill(http, model)
        item = await own.item()
        own.plays["Ada"] = [Reply([Text("I "), Hold("ada"), Text("dig.")])]
        team = await own.team({"name": "Ada", "item_id": item}, {"name": "Bob"})
        await model.wait_held("ada", timeout=30)
        await own.until(team["team_id"], "Bob", "idle")
        await host.kill()
        model.release("ada")
        await host.up()
        await own.until(team["team_id"], "Ada", "idle")
        changes = (await own.get(f"/work/items/{item}/history"))["changes"]
        assert [one["action"] for one in reversed(changes)] == ["created", "claimed"]
        results = await own.mail(team["team_id"], "result")
        assert sorted((one["sender"], one["content"]) for one in results) == [
            *(("Ada", "Ada is done."), ("Bob", "Bob is done."))
        ]
        working = [one.get("member") for one in await own.events(team["lead_task_id"], "team_update")]
        assert working.count("Ada") == 3, "it joined, began once and rests"


async def test_i2_a_board_is_worked_off_though_the_engine_dies_again_and_again(tmp_path: Path) -> None:
    async with ModelServer([worker]) as model, hosted(tmp_path, model) as (host, http):
        team, items = await begun(http, ("Ada", "Bob"), 4)
        for seconds in (0.2, 0.6):
            await asyncio.sleep(seconds)
            await host.kill()
            await host.up()
        sheet = await finished(http, team["team_id"], items)
        await nothing_lost_nothing_doubled(http, sheet, items)
