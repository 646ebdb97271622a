"""A team of three builds a small feature while replicas die: whoever was at work is at work elsewhere, what was done is
done once, and the story is the same to read."""

from pathlib import Path

from aster.testing import ModelServer
from tests.cluster.replicas import Replica, replicas
from tests.cluster.turns import of_type, owner
from tests.work.teams.story import BEGINNING, END, GO_AHEAD, GO_ON, KILLED, LEAD, Story, built, repository


async def test_a_team_builds_a_feature_though_replicas_die(tmp_path: Path, database_url: str) -> None:
    root = repository(tmp_path / "repository")
    async with (
        ModelServer() as model,
        replicas(tmp_path, model.url, database_url, 3, ALLOWED_ROOTS=str(root), SANDBOX="off") as engines,
    ):
        alive = list(engines)
        story = Story(model, lambda: alive[-1].http)
        await story.board()
        await story.begun()
        await story.approve(await story.planned(), GO_AHEAD)
        await model.wait_held("ada", timeout=30)
        await model.wait_held("bob", timeout=30)
        members = await story.members()

        dead = await _at(members["Bob"]["task_id"], alive, database_url)
        await dead.process.kill()
        alive.remove(dead)
        await model.wait_held("bob", count=2, timeout=30)
        assert (await story.item("repeat"))["owner"] == f"{story.team_id}/Bob", "another replica goes on with Bob"
        assert (await story.members())["Bob"]["status"] == "working"

        await story.post(f"/teams/{story.team_id}/members/Bob/stop")
        assert (await story.completed("repeat"))["owner"] == f"{story.team_id}/Cleo"
        model.release("ada")
        await story.approve(await story.planned(), GO_ON)
        await story.completed("wire")
        await story.at_rest()
        await story.say("Merge it.")

        built(root)
        await story.well_told(*BEGINNING, *KILLED, *END)
        for task_id in (LEAD, *(one["task_id"] for one in members.values())):
            thread = await story.thread(task_id)
            assert [event["seq"] for event in thread] == list(range(1, len(thread) + 1))
            results = [one["tool_call_id"] for one in of_type(thread, "tool_result") if not one.get("depth")]
            assert len(results) == len(set(results)), "nothing is done twice"


async def _at(task_id: str, engines: list[Replica], database_url: str) -> Replica:
    """The replica that has the turn of a task."""
    name = await owner(database_url, task_id)
    names = [(await replica.http.get("/about")).json()["replica"] for replica in engines]
    return engines[names.index(name)]
