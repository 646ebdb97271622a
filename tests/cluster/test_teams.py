"""A team over several replicas: whoever notices first begins a member, and nobody begins it twice; what a replica was
at when it died goes on elsewhere."""

import asyncio
from pathlib import Path

from aster.testing import ModelServer
from tests.cluster.replicas import replicas
from tests.work.teams.chores import begun, finished, nothing_lost_nothing_doubled, worker
from tests.work.teams.drills import Drill


async def test_a2_mail_from_all_replicas_arrives_once_and_in_order(tmp_path: Path, database_url: str) -> None:
    async with ModelServer() as model, replicas(tmp_path, model.url, database_url, 3) as engines:
        own = Drill(engines[0].http, model)
        team_id = (await own.team({"name": "Ada"}))["team_id"]

        async def write(at: int) -> None:
            place = f"/teams/{team_id}/mail"
            sent = await engines[at % 3].http.post(place, json={"to": "Ada", "content": f"note {at:02}."})
            assert sent.status_code == 201, sent.text

        await asyncio.gather(*map(write, range(24)))
        await own.until(team_id, "Ada", "idle")
        async with asyncio.timeout(20):
            while (await own.member(team_id, "Ada"))["unread"]:
                await asyncio.sleep(0.05)
        sent = [one for one in await own.mail(team_id, "message") if one["sender"] == "person"]
        assert [one["seq"] for one in sent] == list(range(1, 26))
        task_id = (await own.member(team_id, "Ada"))["task_id"]
        said = [str(one["content"]) for one in await own.events(task_id, "user_message")]
        told = "\n".join(said)
        assert [told.count(one["content"]) for one in sent] == [1] * 25
        assert sorted(sent, key=lambda one: told.index(one["content"])) == sent


async def test_i2_a_board_is_worked_off_on_three_replicas_of_which_one_dies(
    tmp_path: Path, database_url: str
) -> None:
    async with (
        ModelServer([worker]) as model,
        replicas(tmp_path, model.url, database_url, 3, TEAM_TURNS="50") as engines,
    ):
        team, items = await begun(engines[0].http, ("Ada", "Bob", "Cleo"), 9)
        await asyncio.sleep(0.6)
        await engines[0].process.kill()
        sheet = await finished(engines[1].http, team["team_id"], items)
        await nothing_lost_nothing_doubled(engines[2].http, sheet, items)
