"""The rows W1 to W4 of the harness's checklist, over HTTP."""

import shutil
from pathlib import Path
from typing import Any

from aster.testing import Reply, Rule, Text, ToolCall
from tests.work.worktrees.forest import Planted, events, git, scripted

WRITE: tuple[str, dict[str, Any]] = ("write_file", {"path": "note.txt", "content": "here"})


def names(place: Path) -> list[str]:
    return sorted(entry.name for entry in place.iterdir())


async def test_w1_whoever_claims_an_item_works_in_its_worktree(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        place = forest.worktree("parser")
        assert (tree["path"], tree["branch"], tree["status"]) == (str(place), "wt/parser", "active")
        (place / "only-here.py").write_text("MARK = 1\n")
        frames = await forest.turn(
            ("task_claim", {"id": item}),
            ("bash", {"command": "pwd; echo x > by-bash.txt"}),
            WRITE,
            ("read_file", {"path": "only-here.py"}),
            ("grep", {"pattern": "MARK"}),
            ("glob", {"pattern": "*.py"}),
            ("bash", {"command": "pwd > by-background.txt", "run_in_background": True}),
        )
        claimed, bash, _, read, grep, glob, behind = (one["output"] for one in events(frames, "tool_result"))
        assert "Worktree: parser" in claimed
        assert bash == str(place)
        assert "MARK" in read
        assert grep.startswith("only-here.py")
        assert "only-here.py" in glob
        assert "bg_" in behind
        assert (place / "note.txt").read_text() == "here"
        assert (place / "by-bash.txt").exists()
        assert names(forest.root) == [".aster", ".git", ".gitignore", "main.py"]
        (entered,) = events(frames, "worktree_event")
        assert (entered["action"], entered["work_task_id"], entered["name"]) == ("entered", item, "parser")
        assert git(forest.root, "status", "--porcelain") == ""


async def test_w1_there_is_no_way_out_of_it(planted: Planted) -> None:
    async with planted() as forest:
        item, _ = await forest.planted("parser")
        (forest.worktree("parser") / "link").symlink_to(forest.root)
        ways = (f"{forest.root}/main.py", "../../../main.py", "link/main.py", f"{forest.root}/.git/config")
        _, *refused = await forest.calls(
            ("task_claim", {"id": item}),
            *(("read_file", {"path": way}) for way in ways),
            *(("write_file", {"path": way, "content": "taken over"}) for way in ways),
        )
        for one in refused:
            assert one["error"] == "permission_denied"
            assert "outside the workspace" in one["output"]
        assert (forest.root / "main.py").read_text() == "print('old')\n"


async def test_w1_what_is_called_beside_the_claim_is_done_there_too(planted: Planted) -> None:
    async with planted() as forest:
        item, _ = await forest.planted("parser")
        together = [ToolCall("task_claim", {"id": item}, id="a"), ToolCall(*WRITE, id="b")]
        forest.model.script([Rule(Reply(together), match="^go", round=0), Rule(Reply([Text("Well.")]))])
        await forest.engine.execute("go")
        assert (forest.worktree("parser") / "note.txt").exists()
        assert not (forest.root / "note.txt").exists()


async def test_w1_the_lease_outlasts_the_completion_until_the_turn_ends(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        await forest.calls(
            ("task_claim", {"id": item}), ("task_complete", {"id": item}), ("bash", {"command": "pwd > where.txt"})
        )
        where = forest.worktree("parser") / "where.txt"
        assert where.read_text().strip() == str(forest.worktree("parser"))
        assert not (await forest.tree(tree["worktree_id"]))["in_use"]
        (here,) = await forest.calls(("bash", {"command": "pwd"}))
        assert here["output"] == str(forest.root)


async def test_w1_giving_back_ends_it_and_another_takes_it_up(planted: Planted) -> None:
    async with planted() as forest:
        item, _ = await forest.planted("parser")
        *_, after = await forest.calls(
            ("task_claim", {"id": item}), WRITE, ("task_release", {"id": item}), ("bash", {"command": "pwd"})
        )
        assert after["output"] == str(forest.root)
        _, read = await forest.calls(
            ("task_claim", {"id": item}), ("read_file", {"path": "note.txt"}), task_id="t2"
        )
        assert "here" in read["output"]


async def test_w1_two_work_side_by_side_and_what_they_did_is_merged(planted: Planted) -> None:
    async with planted() as forest:
        for name in ("one", "two"):
            item, _ = await forest.planted(name)
            commit = f"git add . && git -c user.name=a -c user.email=a@b commit -qm {name}"
            results = await forest.calls(
                ("task_claim", {"id": item}),
                ("write_file", {"path": f"{name}.py", "content": f"print('{name}')\n"}),
                ("bash", {"command": commit}),
                ("task_complete", {"id": item}),
                task_id=name,
            )
            assert [one.get("error") for one in results] == [None] * 4, results
        assert names(forest.root) == [".aster", ".git", ".gitignore", "main.py"]
        merge = "git -c user.name=a -c user.email=a@b merge -q --no-edit wt/one wt/two"
        merge += " && python3 one.py && python3 two.py"
        (merged,) = await forest.calls(("bash", {"command": merge}), task_id="lead")
        assert merged["output"].splitlines()[-2:] == ["one", "two"]


async def test_w1_it_is_found_again_after_a_restart(planted: Planted) -> None:
    async with planted() as forest:
        item, _ = await forest.planted("parser")
        await forest.calls(("task_claim", {"id": item}))
    async with planted() as forest:
        (where,) = await forest.calls(("bash", {"command": "pwd"}))
        assert where["output"] == str(forest.worktree("parser"))


async def test_w1_a_sub_agent_works_where_its_parent_does(planted: Planted) -> None:
    async with planted() as forest:
        item, _ = await forest.planted("parser")
        forest.model.script(
            [
                Rule(Reply([ToolCall("bash", {"command": "pwd > child.txt"}, id="k1")]), match="^look", round=0),
                Rule(Reply([Text("Looked.")]), match="^look"),
                *scripted(("task_claim", {"id": item}), ("spawn_agent", {"prompt": "look around"})),
            ]
        )
        await forest.engine.execute("go")
        assert (forest.worktree("parser") / "child.txt").read_text().strip() == str(forest.worktree("parser"))


def gone(root: Path, place: Path) -> None:
    del root
    shutil.rmtree(place)


def swapped(root: Path, place: Path) -> None:
    """A link to the repository in its place."""
    shutil.rmtree(place)
    place.symlink_to(root)


def other_branch(root: Path, place: Path) -> None:
    del root
    git(place, "checkout", "--quiet", "-b", f"other-{place.name}")


def detached(root: Path, place: Path) -> None:
    del root
    git(place, "checkout", "--quiet", "--detach")


def foreign(root: Path, place: Path) -> None:
    """A repository of its own in its place."""
    del root
    (place / ".git").unlink()
    git(place, "init", "--quiet")


def unregistered(root: Path, place: Path) -> None:
    shutil.rmtree(root / ".git" / "worktrees" / place.name)


def above_swapped(root: Path, place: Path) -> None:
    """A link above it, to a copy that somebody else may write to."""
    moved = root.parent / f"moved-{place.name}"
    (root / ".aster").rename(moved)
    (root / ".aster").symlink_to(moved)


BREAKS = (gone, swapped, other_branch, detached, foreign, unregistered, above_swapped)
"""The last one breaks them all."""


async def test_w2_a_broken_one_is_not_claimed_and_nothing_is_done_in_its_place(planted: Planted) -> None:
    async with planted() as forest:
        for breaks in BREAKS:
            item, tree = await forest.planted(breaks.__name__)
            breaks(forest.root, forest.worktree(breaks.__name__))
            assert (await forest.tree(tree["worktree_id"]))["problem"], breaks
            status, answer = await forest.ask("claim", item, owner="w")
            assert (status, answer["error"]) == (409, "WORKTREE_CONFLICT"), breaks
            assert answer["details"]["reason"] == "broken"
            refused, after = await forest.calls(("task_claim", {"id": item}), ("bash", {"command": "pwd"}))
            assert refused["error"] == "WORKTREE_CONFLICT"
            assert after["output"] == str(forest.root)
            assert (await forest.item(item))["ready"]


async def test_w2_one_that_breaks_under_its_owner_stops_the_tools_and_not_the_board(planted: Planted) -> None:
    async with planted() as forest:
        for breaks in (gone, swapped, other_branch):
            item, _ = await forest.planted(breaks.__name__)
            await forest.calls(("task_claim", {"id": item}))
            breaks(forest.root, forest.worktree(breaks.__name__))
            bash, behind, write, read, back, root = await forest.calls(
                ("bash", {"command": "echo x > by-bash.txt"}),
                ("bash", {"command": "echo x > by-background.txt", "run_in_background": True}),
                WRITE,
                ("read_file", {"path": "main.py"}),
                ("task_release", {"id": item, "reason": "its directory is broken"}),
                ("bash", {"command": "pwd"}),
            )
            for refused in (bash, behind, write, read):
                assert refused["error"] == "worktree_broken", breaks
                assert "Nothing is done elsewhere" in refused["output"]
            assert "[ready]" in back["output"]
            assert root["output"] == str(forest.root)
        for name in ("by-bash.txt", "by-background.txt", "note.txt"):
            assert not (forest.root / name).exists()


async def test_w2_what_is_next_passes_a_broken_one_over(planted: Planted) -> None:
    async with planted() as forest:
        (broken,) = await forest.ids({"subject": "first", "priority": 9})
        assert (await forest.plant("parser", broken))[0] == 201
        (whole,) = await forest.ids("second")
        gone(forest.root, forest.worktree("parser"))
        taken = (await forest.http.post("/work/claim", json={"owner": "w"})).json()["item"]
        assert taken["item_id"] == whole


def tracked(place: Path) -> None:
    (place / "main.py").write_text("print('new')\n")


def untracked(place: Path) -> None:
    (place / "new.py").write_text("")


def ignored(place: Path) -> None:
    (place / "secret.log").write_text("only here")


def staged(place: Path) -> None:
    untracked(place)
    git(place, "add", "new.py")


def hidden(place: Path) -> None:
    """A change that its index is told not to look for."""
    git(place, "update-index", "--assume-unchanged", "main.py")
    tracked(place)


def merging(place: Path) -> None:
    (Path(git(place, "rev-parse", "--absolute-git-dir")) / "MERGE_HEAD").write_text(git(place, "rev-parse", "HEAD"))


async def test_w3_it_is_not_removed_while_that_would_lose_anything(planted: Planted) -> None:
    async with planted() as forest:
        for changed in (tracked, untracked, ignored, staged, hidden, merging):
            name, place = changed.__name__, forest.worktree(changed.__name__)
            item, tree = await forest.planted(name)
            assert await forest.remove(tree["worktree_id"], discard=True) == "unfinished"
            await forest.claim(item, "w")
            assert await forest.remove(tree["worktree_id"], discard=True) == "unfinished"
            await forest.done(item, "w")
            changed(place)
            assert await forest.remove(tree["worktree_id"]) == "dirty", changed
            assert place.is_dir()
            assert (await forest.tree(tree["worktree_id"]))["status"] == "active"
            assert await forest.remove(tree["worktree_id"], discard=True) == "removed"
            assert not place.exists()


async def test_w3_what_is_removed_leaves_its_branch_and_its_item_as_they_are(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        await forest.claim(item, "w")
        await forest.done(item, "w")
        assert await forest.remove(tree["worktree_id"]) == "removed"
        assert git(forest.root, "branch", "--list", "wt/parser").strip() == "wt/parser"
        assert "parser" not in git(forest.root, "worktree", "list")
        found = await forest.item(item)
        assert (found["worktree"], found["status"]) == (None, "completed")
        assert (await forest.history(item))[0]["detail"] == {"before": {"worktree": "parser"}}
        assert await forest.remove(tree["worktree_id"]) == "removed"


async def test_w3_an_item_that_was_never_done_is_not_completed_by_removing(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        assert (await forest.http.delete(f"/work/items/{item}")).status_code == 200
        assert await forest.remove(tree["worktree_id"]) == "removed"
        assert (await forest.item(item))["status"] == "deleted"


async def test_w3_it_is_not_removed_while_somebody_works_there(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        name = tree["worktree_id"]
        forest.model.script(
            scripted(
                ("task_claim", {"id": item}),
                ("task_complete", {"id": item}),
                last=Reply([Text("One two three four five six seven.")], rate=2),
            )
        )
        async with forest.engine.executing("go") as stream:
            await stream.until("work_update", action="completed")
            await stream.until("text_delta")
            assert (await forest.tree(name))["in_use"]
            assert await forest.remove(name, discard=True) == "in_use"
            await forest.ask("reopen", item)
            assert await forest.claim(item, "another") == "in_use"
            await forest.http.delete(f"/work/items/{item}")
            await forest.http.post("/execute/cancel", json={"task_id": "t1"})
            await stream.rest()
        assert await forest.remove(name) == "removed"


async def test_w3_a_turn_that_has_called_nothing_yet_keeps_it_whatever_a_person_does(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        await forest.calls(("task_claim", {"id": item}))
        slow = Reply([Text("One two three four."), ToolCall("bash", {"command": "pwd"}, id="b1")], rate=4)
        forest.model.script([Rule(slow, match="^go", round=0), Rule(Reply([Text("Well.")]))])
        async with forest.engine.executing("go") as stream:
            await stream.until("text_delta")
            await forest.done(item, "t1", override=True)
            assert await forest.remove(tree["worktree_id"], discard=True) == "in_use"
            frames = await stream.rest()
        (where,) = events(frames, "tool_result")
        assert where["output"] == str(forest.worktree("parser"))
        assert await forest.remove(tree["worktree_id"]) == "removed"


async def test_w3_it_is_not_removed_while_a_command_runs_there(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        *_, started, _ = await forest.calls(
            ("task_claim", {"id": item}),
            ("bash", {"command": "sleep 60", "run_in_background": True}),
            ("task_complete", {"id": item}),
        )
        assert await forest.remove(tree["worktree_id"], discard=True) == "background"
        await forest.calls(("bash_kill", {"id": started["data"]["id"]}))
        assert await forest.remove(tree["worktree_id"]) == "removed"


async def test_w3_people_keep_and_remove_and_no_tool_does(planted: Planted) -> None:
    async with planted() as forest:
        item, tree = await forest.planted("parser")
        place = f"/worktrees/{tree['worktree_id']}"
        assert (await forest.http.post(f"{place}/keep")).json()["status"] == "kept"
        await forest.calls(("task_claim", {"id": item}), ("task_complete", {"id": item}))
        offered = {tool["function"]["name"] for tool in forest.model.calls[-1].body["tools"]}
        assert {name for name in offered if "worktree" in name} == {"worktree_create"}
        tracked(forest.worktree("parser"))
        assert await forest.remove(tree["worktree_id"]) == "dirty"
        assert (await forest.tree(tree["worktree_id"]))["status"] == "kept"
        assert await forest.remove(tree["worktree_id"], discard=True) == "removed"
        assert (await forest.http.post(f"{place}/keep")).json()["details"]["reason"] == "removed"


async def test_w4_what_fails_half_way_is_told_and_left_and_nothing_is_bound(planted: Planted) -> None:
    async with planted() as forest:
        blob = git(forest.root, "rev-parse", "HEAD:main.py")
        (forest.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        made, _ = await forest.call("task_create", tasks=[{"subject": "Dig"}])
        item = made["data"]["items"][0]["id"]
        frames = await forest.turn(("worktree_create", {"name": "parser", "item_id": item}))
        (result,) = events(frames, "tool_result")
        assert result["error"] == "WORKTREE_CONFLICT"
        assert "nothing was deleted" in result["output"]
        (failed,) = events(await forest.engine.replay(task_id="t1"), "worktree_event")
        assert (failed["action"], failed["work_task_id"]) == ("failed", item)
        assert forest.worktree("parser").is_dir()
        assert git(forest.root, "branch", "--list", "wt/parser").strip("+ ") == "wt/parser"
        found = await forest.item(item)
        assert (found["worktree"], found["ready"]) == (None, True)
        (tree,) = (await forest.http.get("/worktrees")).json()["worktrees"]
        assert (tree["status"], tree["item_id"]) == ("failed", item)
        status, again = await forest.plant("parser", item)
        assert (status, again["details"]["reason"]) == (409, "exists")
        assert await forest.claim(item, "w") == "claimed"
