"""The rows G1 to G6 of the harness's checklist, over HTTP."""

import asyncio

from tests.work.graph.boards import Opened, said


async def test_g1_what_waits_cannot_be_claimed_until_everything_it_waits_for_is_completed(opened: Opened) -> None:
    async with opened() as board:
        a, b, c = await board.ids(
            {"subject": "a", "name": "a"}, {"subject": "b", "name": "b"}, {"subject": "c", "blocked_by": ["a", "b"]}
        )
        assert await board.ready() == [a, b]
        assert await board.claim(c, "w") == "blocked"
        assert await board.claim(a, "w") == "claimed"
        await board.done(a, "w")
        status, answer = await board.ask("claim", c, owner="w")
        assert (status, answer["details"]["reason"]) == (409, "blocked")
        assert answer["details"]["waiting_for"] == [b]
        assert await board.claim(b, "w") == "claimed"
        await board.done(b, "w")
        assert await board.claim(c, "w") == "claimed"


async def test_g1_what_is_missing_blocks(opened: Opened) -> None:
    async with opened() as board:
        a, b = await board.ids({"subject": "a", "name": "a"}, {"subject": "b", "blocked_by": ["a"]})
        assert (await board.http.delete(f"/work/items/{a}")).status_code == 200
        assert await board.ready() == []
        assert (await board.item(b))["waiting_for"] == [a]
        assert await board.claim(b, "w") == "blocked"
        gone = {"remove": [{"item_id": b, "blocked_by": a}]}
        assert (await board.http.post("/work/edges", json=gone)).status_code == 200
        assert await board.claim(b, "w") == "claimed"


async def test_g2_of_many_who_claim_at_once_one_gets_it(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("a")
        got = await asyncio.gather(*(board.claim(item, f"w{at}") for at in range(20)))
        assert sorted(got) == ["already_claimed"] * 19 + ["claimed"]
        winner = (await board.item(item))["owner"]
        assert got[int(winner[1:])] == "claimed"
        assert [change["action"] for change in await board.history(item)] == ["claimed", "created"]


async def test_g3_only_the_owner_completes_and_has_one_item_at_a_time(opened: Opened) -> None:
    async with opened() as board:
        a, b = await board.ids("a", "b")
        assert said(await board.ask("complete", a, owner="w"), "completed") == "not_claimed"
        assert await board.claim(a, "w") == "claimed"
        assert said(await board.ask("complete", a, owner="x"), "completed") == "not_owner"
        assert said(await board.ask("release", a, owner="x"), "released") == "not_owner"
        status, answer = await board.ask("claim", b, owner="w")
        assert (status, answer["details"]["reason"], answer["details"]["busy_with"]) == (409, "busy_owner", a)
        await board.done(a, "w")
        assert await board.claim(b, "w") == "claimed"
        assert await board.claim(a, "x") == "already_resolved"
        assert said(await board.ask("complete", a, owner="w"), "completed") == "already_resolved"


async def test_g3_a_person_may_override_and_the_history_tells(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("a")
        assert await board.claim(item, "w") == "claimed"
        await board.done(item, "boss", override=True, result="took it over")
        newest = (await board.history(item))[0]
        assert (newest["action"], newest["person"], newest["overrode"]) == ("completed", True, True)
        assert (await board.item(item))["result"] == "took it over"


async def test_g4_completing_tells_what_became_ready_by_it_and_nothing_else(opened: Opened) -> None:
    async with opened() as board:
        a, b, c, d, _free = await board.ids(
            {"subject": "a", "name": "a"},
            {"subject": "b", "name": "b"},
            {"subject": "c", "blocked_by": ["a"]},
            {"subject": "d", "blocked_by": ["a", "b"]},
            {"subject": "free"},
        )
        assert await board.claim(a, "w") == "claimed"
        assert [item["item_id"] for item in (await board.done(a, "w"))["unblocked"]] == [c]
        assert await board.claim(b, "w") == "claimed"
        assert [item["item_id"] for item in (await board.done(b, "w"))["unblocked"]] == [d]


async def test_g5_what_is_unsound_is_refused_whole(opened: Opened) -> None:
    async with opened() as board:
        a, b, c, free = await board.ids("a", "b", "c", "free")
        assert (await board.link((b, a), (c, b)))[0] == 200
        for wrong in ([(free, a), (a, c)], [(free, a), (b, b)], [(free, a), (c, "work-nowhere")]):
            status, answer = await board.link(*wrong)
            assert (status, answer["error"]) == (422, "INVALID_REQUEST")
            assert (await board.item(free))["blocked_by"] == []
        status, answer = await board.link((a, c))
        assert f"{b} -> {a}" in answer["message"] or f"{c} -> {b}" in answer["message"]
        circle = [
            {"subject": "x", "name": "x", "blocked_by": ["y"]},
            {"subject": "y", "name": "y", "blocked_by": ["x"]},
        ]
        refused = await board.http.post("/work/items", json={"items": circle})
        assert refused.status_code == 422
        assert len((await board.http.get("/work/items")).json()["items"]) == 4


async def test_g5_an_edge_that_is_there_is_no_change(opened: Opened) -> None:
    async with opened() as board:
        a, b = await board.ids("a", "b")
        for _ in range(2):
            status, answer = await board.link((b, a), (b, a))
            assert status == 200
            assert answer["items"][0]["blocked_by"] == [a]
        assert [change["action"] for change in await board.history(b)] == ["linked", "created"]
        assert await board.claim(a, "w") == "claimed"
        assert (await board.link((a, b)))[1]["details"]["reason"] == "already_claimed"


async def test_g6_work_outlives_a_restart_and_a_compaction_and_ids_are_not_given_again(opened: Opened) -> None:
    async with opened() as board:
        made, _ = await board.call("task_create", tasks=[{"subject": "Dig"}, {"subject": "Fill"}])
        first, second = (item["id"] for item in made["data"]["items"])
        claimed, _ = await board.call("task_claim", id=first)
        assert claimed["data"]["items"][0]["status"] == "in_progress"
    async with opened() as board:
        compacted = await board.http.post("/tasks/t1/compact", json={})
        assert compacted.status_code == 200, compacted.text
        listed, _ = await board.call("task_list")
        assert f"{first} [in_progress, yours] Dig" in listed["output"]
        assert f"{second} [ready] Fill" in listed["output"]
        done, _ = await board.call("task_complete", id=first)
        assert "error" not in done
        assert (await board.http.delete(f"/work/items/{second}")).status_code == 200
        (third,) = await board.ids("Third")
    async with opened() as board:
        (fourth,) = await board.ids("Fourth")
        assert len({first, second, third, fourth}) == 4
        assert (await board.item(second))["status"] == "deleted"
        assert [change["action"] for change in await board.history(first)] == ["completed", "claimed", "created"]
