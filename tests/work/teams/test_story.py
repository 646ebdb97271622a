"""A team of three builds a small feature in worktrees of a repository: the person approves plans, two work at the same
time, one is killed in the middle and another takes its work over, and what was merged runs; on a file and on
PostgreSQL."""

from pathlib import Path

from aster.testing import ModelServer
from tests.live import live
from tests.work.places import Place
from tests.work.teams.story import BEGINNING, END, GO_AHEAD, GO_ON, KILLED, Story, built, repository, run


async def test_a_team_builds_a_feature_and_its_story_can_be_read(place: Place, tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    trees = root / ".aster" / "worktrees"
    assert run(root) == "hello"
    async with ModelServer() as model, live(model, allowed_roots=str(root), **place.settings) as engine:
        story = Story(model, lambda: engine.http)
        await story.board()
        await story.begun()

        plan = await story.planned()
        assert (plan["member"], plan["item_id"]) == ("Ada", story.items["shout"])
        assert not (trees / "shout" / "shout.py").exists(), "nothing is written before the plan is approved"
        await story.approve(plan, GO_AHEAD)

        await model.wait_held("ada", timeout=20)
        await model.wait_held("bob", timeout=20)
        members = await story.members()
        assert [members[name]["status"] for name in ("Ada", "Bob", "Cleo")] == ["working", "working", "idle"]
        assert (trees / "shout" / "shout.py").exists()
        assert (trees / "repeat" / "repeat.py").exists()
        assert run(root) == "hello", "what is under way is not in the repository"

        await story.post(f"/teams/{story.team_id}/members/Bob/stop")
        assert (await story.completed("repeat"))["owner"] == f"{story.team_id}/Cleo"
        assert (await story.item("shout"))["status"] == "in_progress", "the others went on meanwhile"
        model.release("ada")
        again = await story.planned()
        assert again["item_id"] == story.items["wire"], "a plan is approved for the work it was made for"
        await story.approve(again, GO_ON)
        await story.completed("wire")
        await story.at_rest()
        await story.say("Merge it.")

        built(root)
        await story.well_told(*BEGINNING, *KILLED, *END)
        assert await story.history("repeat") == [
            *(("created", "default"), ("updated", "feature"), ("claimed", "Bob"), ("released", "engine")),
            *(("claimed", "Cleo"), ("completed", "Cleo")),
        ]
        ada = await story.thread(members["Ada"]["task_id"])
        first = next(one for one in ada if one["type"] == "tool_result")
        assert first["output"].startswith("Blocked: plan status is required.")
