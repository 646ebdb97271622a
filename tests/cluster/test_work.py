"""The work graph over several replicas: whoever asks wherever, an item goes to one."""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2

from tests.cluster.replicas import Replica, replicas, soon

CLAIMANTS = 200
ITEMS = 10


async def test_two_hundred_claimants_on_three_replicas_and_each_item_goes_to_one(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url, 3) as all_three:
        drafts = [{"subject": f"item {at}"} for at in range(ITEMS)]
        made = (await all_three[0].http.post("/work/items", json={"items": drafts})).json()["items"]
        ids = [item["item_id"] for item in made]

        async def claim(at: int) -> tuple[str, str]:
            """Which item was asked for, and what came of it; all items have claimants on all replicas."""
            item_id = ids[at // 3 % ITEMS]
            answer = await all_three[at % 3].http.post(
                f"/work/items/{item_id}/claim", json={"owner": f"w{at}"}, timeout=60
            )
            if answer.status_code == 200:
                return item_id, f"w{at}"
            assert answer.status_code == 409, answer.text
            return item_id, answer.json()["details"]["reason"]

        got = await asyncio.gather(*(claim(at) for at in range(CLAIMANTS)))
        winners = {item_id: who for item_id, who in got if who != "already_claimed"}
        assert Counter(who == "already_claimed" for _, who in got) == {True: CLAIMANTS - ITEMS, False: ITEMS}
        assert set(winners) == set(ids)
        for replica in all_three:
            listed = (await replica.http.get("/work/items", params={"status": "in_progress"})).json()["items"]
            assert {item["item_id"]: item["owner"] for item in listed} == winners
        for item_id in ids:
            story = (await all_three[1].http.get(f"/work/items/{item_id}/history")).json()["changes"]
            assert [change["action"] for change in story] == ["claimed", "created"]


async def test_two_hundred_who_take_what_is_next_and_each_item_goes_to_one(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    """All replicas reach for the same item again and again."""
    async with replicas(tmp_path, upstream.url, database_url, 3) as all_three:
        for round_ in ("first", "second"):
            drafts = [{"subject": f"item {at}"} for at in range(ITEMS)]
            body = {"items": drafts, "board": round_}
            made = (await all_three[0].http.post("/work/items", json=body)).json()["items"]

            async def take(at: int, board: str = round_) -> str | None:
                wanted = {"owner": f"{board}-{at}", "board": board}
                answer = await all_three[at % 3].http.post("/work/claim", json=wanted, timeout=60)
                assert answer.status_code == 200, answer.text
                taken = answer.json()["item"]
                return None if taken is None else taken["item_id"]

            got = [item_id for item_id in await asyncio.gather(*map(take, range(CLAIMANTS))) if item_id]
            assert sorted(got) == sorted(item["item_id"] for item in made)


async def test_many_workers_take_what_is_next_and_nothing_is_done_twice(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url, 3) as all_three:
        drafts: list[dict[str, Any]] = [
            {"subject": str(at), "name": f"n{at}", "blocked_by": [f"n{at - 3}"] if at >= 3 else []}
            for at in range(12)
        ]
        made = (await all_three[0].http.post("/work/items", json={"items": drafts})).json()["items"]
        order = {item["item_id"]: int(item["subject"]) for item in made}
        done: list[int] = []

        async def work(at: int) -> None:
            replica, owner = all_three[at % 3], f"w{at}"
            async with asyncio.timeout(60):
                while len(done) < len(order):
                    taken = (await replica.http.post("/work/claim", json={"owner": owner})).json()["item"]
                    if taken is None:
                        await asyncio.sleep(0.02)
                        continue
                    place = f"/work/items/{taken['item_id']}/complete"
                    done.append(order[taken["item_id"]])
                    assert (await replica.http.post(place, json={"owner": owner})).is_success

        await asyncio.gather(*(work(at) for at in range(9)))
        assert sorted(done) == list(range(12))
        assert all(done.index(at - 3) < done.index(at) for at in range(3, 12))


async def made(replica: Replica, drafts: list[dict[str, Any]]) -> list[str]:
    answer = await replica.http.post("/work/items", json={"items": drafts})
    assert answer.status_code == 201, answer.text
    return [item["item_id"] for item in answer.json()["items"]]


async def test_g3_one_owner_who_asks_everywhere_at_once_gets_one_item(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url, 3) as all_three:
        ids = await made(all_three[0], [{"subject": f"item {at}"} for at in range(30)])

        async def claim(at: int, item_id: str) -> str:
            place = f"/work/items/{item_id}/claim"
            answer = await all_three[at % 3].http.post(place, json={"owner": "greedy"}, timeout=60)
            return "claimed" if answer.is_success else answer.json()["details"]["reason"]

        got = await asyncio.gather(*(claim(at, item_id) for at, item_id in enumerate(ids)))
        assert Counter(got) == {"claimed": 1, "busy_owner": 29}


async def test_g4_what_two_replicas_complete_at_once_unblocks_once(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    """Whichever two are completed at the same moment, something waits for just these."""
    async with replicas(tmp_path, upstream.url, database_url) as both:
        sides = [[f"left-{at}" for at in range(12)], [f"right-{at}" for at in range(12)]]
        first = [{"subject": name, "name": name} for side in sides for name in side]
        waiting = [{"subject": "waits", "blocked_by": [left, right]} for left in sides[0] for right in sides[1]]
        ids = await made(both[0], [*first, *waiting])
        work = [(both[at // 12], item_id) for at, item_id in enumerate(ids[:24])]

        async def do(verb: str) -> list[httpx2.Response]:
            places = (replica.http.post(f"/work/items/{one}/{verb}", json={"owner": one}) for replica, one in work)
            return await asyncio.gather(*places)

        assert all(answer.is_success for answer in await do("claim"))
        told = [item["item_id"] for answer in await do("complete") for item in answer.json()["unblocked"]]
        assert sorted(told) == sorted(ids[24:])


async def test_g5_two_replicas_cannot_build_a_circle_together(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url) as (a, b):
        for _ in range(8):
            first, second = await made(a, [{"subject": "first"}, {"subject": "second"}])
            ways = [{"item_id": first, "blocked_by": second}, {"item_id": second, "blocked_by": first}]
            answers = await asyncio.gather(
                *(one.http.post("/work/edges", json={"add": [way]}) for one, way in zip((a, b), ways, strict=True))
            )
            assert sorted(answer.status_code for answer in answers) == [200, 422]


async def test_an_item_stays_with_a_turn_that_another_replica_takes_over(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url) as (a, b):
        made = (await a.http.post("/work/items", json={"items": [{"subject": "Dig"}]})).json()["items"]
        item_id = made[0]["item_id"]
        claimed = await a.call("task_claim", "t1", id=item_id)
        assert claimed["data"]["items"][0]["status"] == "in_progress"
        slow = asyncio.create_task(_cut_off(a, "[[text=40 rate=10]] Go on."))

        async def runs() -> bool:
            return (await b.http.get("/tasks/t1")).json()["status"] == "running"

        await soon(runs, 10.0)
        await a.process.kill()
        await slow

        async def over() -> bool:
            return (await b.http.get("/tasks/t1")).json()["status"] == "idle"

        await soon(over, 30.0)
        assert (await b.http.get(f"/work/items/{item_id}")).json()["owner"] == "t1"
        done = await b.call("task_complete", "t1", id=item_id)
        assert done["data"]["items"][0]["status"] == "completed"


async def _cut_off(replica: Replica, message: str) -> None:
    """A turn whose stream ends with its replica."""
    with suppress(httpx2.TransportError):
        await replica.execute(message, "t1")
