"""Making worktrees: everything is looked at first, one wins, and what cannot be had is refused with a reason."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import ModelServer
from tests.live import live
from tests.work.places import Place
from tests.work.worktrees.forest import Forest, Planted, events, forest, git, sample


async def test_everything_is_looked_at_before_anything_is_made(planted: Planted, tmp_path: Path) -> None:
    async with planted(worktrees_max=2) as forest:
        item, _ = await forest.planted("one")
        other, claimed, done = await forest.ids("other", "claimed", "done")
        await forest.claim(claimed, "w")
        await forest.http.delete(f"/work/items/{done}")
        git(forest.root, "branch", "wt/branched")
        forest.worktree("there").mkdir()
        (forest.root / ".git" / "worktrees" / "known").mkdir()
        (forest.root / "plain").mkdir()
        before = git(forest.root, "branch", "--list", "wt/*")
        for name, wanted, body, reason in (
            ("two", item, {}, "item_bound"),
            ("two", claimed, {}, "item_claimed"),
            ("two", done, {}, "item_resolved"),
            ("one", other, {}, "exists"),
            ("branched", other, {}, "exists"),
            ("there", other, {}, "exists"),
            ("known", other, {}, "exists"),
            ("two", other, {"repository": "plain"}, "not_a_repository"),
            ("two", other, {"base": "nowhere"}, "not_a_repository"),
        ):
            status, answer = await forest.plant(name, wanted, **body)
            assert (status, answer["details"].get("reason")) == (409, reason), answer
        for body in ({"repository": str(tmp_path)}, {"repository": "../.."}, {"base": "--upload-pack=x"}):
            status, answer = await forest.plant("two", other, **body)
            assert (status, answer["error"]) == (422, "INVALID_REQUEST"), answer
        assert (await forest.plant("two", "work-unknown"))[0] == 404
        assert git(forest.root, "branch", "--list", "wt/*") == before
        assert (await forest.plant("two", other))[0] == 201
        (third,) = await forest.ids("third")
        assert (await forest.plant("three", third))[1]["details"]["reason"] == "limit"


async def test_of_many_who_want_one_for_an_item_one_gets_it(planted: Planted) -> None:
    async with planted() as forest:
        (item,) = await forest.ids("Dig")
        got = await asyncio.gather(*(forest.plant(f"tree{at}", item) for at in range(4)))
        assert sorted(status for status, _ in got) == [201, 409, 409, 409]
        listed = (await forest.http.get("/worktrees", params={"item_id": item})).json()["worktrees"]
        assert [tree["status"] for tree in listed] == ["active"]
        assert len(git(forest.root, "worktree", "list").splitlines()) == 2


async def test_a_model_makes_one_and_its_thread_tells(planted: Planted) -> None:
    async with planted() as forest:
        made, _ = await forest.call("task_create", tasks=[{"subject": "Dig"}])
        item = made["data"]["items"][0]["id"]
        frames = await forest.turn(
            ("worktree_create", {"name": "parser", "item_id": item, "base": "main"}),
            ("bash", {"command": "pwd"}),
            ("task_claim", {"id": item}),
            ("bash", {"command": "pwd"}),
        )
        created, before, _, after = events(frames, "tool_result")
        assert created["data"]["branch"] == "wt/parser"
        assert before["output"] == str(forest.root)
        assert after["output"] == str(forest.worktree("parser"))
        told = [(one["action"], one["worktree_id"]) for one in events(frames, "worktree_event")]
        assert told == [("created", created["data"]["worktree_id"]), ("entered", created["data"]["worktree_id"])]
        (tree,) = (await forest.http.get("/worktrees")).json()["worktrees"]
        assert (tree["created_by"], tree["person"], tree["base"]) == (
            "t1",
            False,
            git(forest.root, "rev-parse", "main"),
        )


async def test_it_is_offered_where_there_is_work_in_a_repository(tmp_path: Path) -> None:
    def offered(own: Any) -> bool:
        return "worktree_create" in {tool["function"]["name"] for tool in own.model.calls[-1].body["tools"]}

    for place, expected in ((sample(tmp_path / "repository"), True), (tmp_path / "plain", False)):
        place.mkdir(exist_ok=True)
        async with forest(place) as own:
            await own.engine.execute("[[text=3]] hi")
            assert not offered(own)
            await own.ids("Dig")
            await own.engine.execute("[[text=3]] hi")
            assert offered(own) is expected


async def test_what_an_engine_died_over_is_given_up_and_told(planted: Planted, place: Place) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
    place.run("UPDATE worktrees SET status = 'creating', updated_at = 1")
    place.run("UPDATE work_items SET worktree = NULL")
    async with planted() as forest:
        assert (await forest.plant("other", item))[0] == 201
        left = await forest.tree(tree["worktree_id"])
        assert (left["status"], "stopped while it was made" in left["reason"]) == ("failed", True)
        assert forest.worktree("parser").is_dir()


async def test_it_is_nobody_elses(tmp_path: Path) -> None:
    root, brain = sample(tmp_path / "repository"), tmp_path / "brain.sqlite"
    other = {"X-Engine-Key": keys.create(brain, "eve", "eve").key}
    async with forest(root, sqlite_db_path=brain, engine_api_key="the-key") as own:
        _, tree = await own.planted("parser")
        place = f"/worktrees/{tree['worktree_id']}"
        assert (await own.http.get("/worktrees", headers=other)).json()["worktrees"] == []
        for answer in (
            await own.http.get(place, headers=other),
            await own.http.post(f"{place}/keep", headers=other),
            await own.http.post(f"{place}/remove", json={"discard": True}, headers=other),
        ):
            assert answer.status_code == 404
        assert own.worktree("parser").is_dir()


async def test_each_task_has_its_own_repositories_where_each_has_its_own_workspace(tmp_path: Path) -> None:
    async with ModelServer() as model, live(model, workspace="task") as engine:
        own = Forest(engine, model, tmp_path)
        init = (
            "git init -q . && echo x > a && git add . && git -c user.name=a -c user.email=a@b commit -qm a && pwd"
        )
        (made,) = await own.calls(("bash", {"command": init}), task_id="t1")
        (item,) = await own.ids("Dig")
        assert (await own.plant("parser", item))[0] == 422
        status, tree = await own.plant("parser", item, task_id="t1")
        assert (status, tree["repository"]) == (201, made["output"].splitlines()[-1])
        refused, here = await own.calls(("task_claim", {"id": item}), ("bash", {"command": "pwd"}), task_id="t2")
        assert refused["data"]["reason"] == "broken"
        assert "not in this workspace" in refused["output"]
        assert here["output"] != tree["path"]
        _, where = await own.calls(("task_claim", {"id": item}), ("bash", {"command": "pwd"}), task_id="t1")
        assert where["output"] == tree["path"]


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
async def test_it_holds_in_the_sandbox_and_git_works_there(tmp_path: Path, sandbox: str) -> None:
    root = sample(tmp_path / "repository")
    git(root, "config", "user.name", "ada")
    git(root, "config", "user.email", "ada@localhost")
    async with forest(root, sandbox=sandbox) as own:
        item, tree = await own.planted("parser")
        _, wrote, committed, outside, status = await own.calls(
            ("task_claim", {"id": item}),
            ("write_file", {"path": "new.py", "content": "print('new')\n"}),
            ("bash", {"command": "git add new.py && git commit -qm new && git log --oneline | wc -l"}),
            ("bash", {"command": f"cat {root}/main.py {root}/.gitignore 2>&1; true"}),
            ("bash", {"command": "git status --porcelain"}),
        )
        assert "error" not in wrote
        assert committed["output"].strip() == "2", committed
        assert "print(" not in outside["output"]
        assert status["output"] == "(no output)"
        await own.calls(("task_complete", {"id": item}))
        (merged,) = await own.calls(
            ("bash", {"command": "git merge -q wt/parser && python3 new.py"}), task_id="lead"
        )
        assert merged["output"].strip() == "new"
        assert await own.remove(tree["worktree_id"]) == "removed"


async def test_searching_the_repository_does_not_look_into_worktrees(tmp_path: Path) -> None:
    root = sample(tmp_path / "repository")
    async with forest(root) as own:
        await own.planted("parser")
        found = await own.calls(
            ("grep", {"pattern": "print"}), ("glob", {"pattern": "**/*.py"}), ("find", {"name": "*.py"})
        )
        for one in found:
            assert "main.py" in one["output"]
            assert ".aster" not in one["output"]
