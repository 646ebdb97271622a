"""Worktrees over several replicas, and over ones that die: where a turn works is read from what is stored."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2

from tests.cluster.replicas import Replica, replicas, soon
from tests.work.worktrees.forest import git, sample


async def planted(replica: Replica, name: str) -> tuple[str, dict[str, Any]]:
    """An item with a worktree."""
    made = (await replica.http.post("/work/items", json={"items": [{"subject": name}]})).json()["items"]
    item = made[0]["item_id"]
    answer = await replica.http.post("/worktrees", json={"name": name, "item_id": item})
    assert answer.status_code == 201, answer.text
    return item, answer.json()


async def test_a_turn_works_where_its_item_is_done_on_whichever_replica_and_after_one_dies(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    root = sample(tmp_path / "repository")
    async with replicas(tmp_path, upstream.url, database_url, ALLOWED_ROOTS=str(root), SANDBOX="off") as (a, b):
        item, tree = await planted(a, "parser")
        await a.call("task_claim", "t1", id=item)
        assert (await b.call("bash", "t1", command="pwd"))["output"] == tree["path"]
        completed = {"owner": "t1", "override": True}
        slow = asyncio.create_task(_cut_off(a, "[[text=60 rate=10]] Go on."))

        async def works() -> bool:
            return (await b.http.get(f"/worktrees/{tree['worktree_id']}")).json()["in_use"]

        await soon(works, 15.0)
        assert (await b.http.post(f"/work/items/{item}/complete", json=completed)).is_success
        removing = f"/worktrees/{tree['worktree_id']}/remove"
        refused = await b.http.post(removing, json={})
        assert refused.json()["details"]["reason"] == "in_use"
        await a.process.kill()
        await slow
        assert (await b.http.post(removing, json={})).json()["details"]["reason"] == "in_use"

        async def over() -> bool:
            return (await b.http.get("/tasks/t1")).json()["status"] == "idle"

        await soon(over, 40.0)
        assert (await b.http.post(removing, json={})).json()["status"] == "removed"
        assert (await b.call("bash", "t1", command="pwd"))["output"] == str(root)


async def test_a_replica_that_has_not_got_the_directory_does_nothing_in_its_place(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    root, other = sample(tmp_path / "repository"), sample(tmp_path / "other")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with (
        replicas(tmp_path, upstream.url, database_url, 1, ALLOWED_ROOTS=str(root), SANDBOX="off") as (a,),
        replicas(elsewhere, upstream.url, database_url, 1, ALLOWED_ROOTS=str(other), SANDBOX="off") as (b,),
    ):
        item, tree = await planted(a, "parser")
        claimed = await b.http.post(f"/work/items/{item}/claim", json={"owner": "w"})
        assert claimed.json()["details"]["reason"] == "broken"
        await a.call("task_claim", "t1", id=item)
        refused = await b.call("bash", "t1", command="touch taken")
        assert refused["error"] == "worktree_broken"
        assert not (other / "taken").exists()
        assert (await a.call("bash", "t1", command="pwd"))["output"] == tree["path"]


async def test_of_two_replicas_that_make_one_for_an_item_one_does(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    root = sample(tmp_path / "repository")
    async with replicas(tmp_path, upstream.url, database_url, ALLOWED_ROOTS=str(root), SANDBOX="off") as both:
        for round_ in range(3):
            made = (await both[0].http.post("/work/items", json={"items": [{"subject": "x"}]})).json()["items"]
            item = made[0]["item_id"]
            answers = await asyncio.gather(
                *(
                    one.http.post("/worktrees", json={"name": f"tree-{round_}-{at}", "item_id": item})
                    for at, one in enumerate(both)
                )
            )
            assert sorted(answer.status_code for answer in answers) == [201, 409]
            assert len(git(root, "worktree", "list").splitlines()) == round_ + 2


async def _cut_off(replica: Replica, message: str) -> None:
    """A turn whose stream ends with its replica."""
    with suppress(httpx2.TransportError):
        await replica.execute(message, "t1")
