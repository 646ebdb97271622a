"""The board in turns: who is offered it, what is told where, and what becomes of an item whose owner does not go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import Failure, ModelServer, Reply, Rule, Text, ToolCall
from tests.live import Live, Seen, live
from tests.work.graph.boards import Board, Opened, board, said

TOOLS = {"task_create", "task_list", "task_get", "task_update", "task_claim", "task_complete", "task_release"}


def offered(model: ModelServer) -> set[str]:
    """What the newest call was offered of the board."""
    return {tool["function"]["name"] for tool in model.calls[-1].body["tools"]} & TOOLS


def told(frames: list[Seen]) -> list[tuple[str, str]]:
    return [(frame.data["action"], frame.data["status"]) for frame in frames if frame.event == "work_update"]


async def test_models_are_offered_the_board_where_there_is_work(opened: Opened) -> None:
    async with opened() as board:
        await board.engine.execute("[[text=3]] hi")
        assert offered(board.model) == set()
        before = board.model.calls[-1].body["tools"]
        await board.ids("Dig")
        await board.engine.execute("[[text=3]] hi")
        assert offered(board.model) == TOOLS
        assert board.model.calls[-1].body["tools"][: len(before)] == before
    async with opened() as board:
        await board.engine.execute("[[text=3]] hi", "t2")
        assert offered(board.model) == TOOLS


@pytest.mark.parametrize(("setting", "found"), [("on", TOOLS), ("off", set[str]())])
async def test_the_operator_may_offer_it_to_everybody_or_nobody(setting: str, found: set[str]) -> None:
    async with board(work_tools=setting) as own:
        await own.ids("Dig")
        await own.engine.execute("[[text=3]] hi")
        assert offered(own.model) == found


async def test_what_an_agent_does_is_told_on_its_thread_and_the_history_says_where(opened: Opened) -> None:
    async with opened() as board:
        made, frames = await board.call("task_create", tasks=[{"subject": "Dig", "name": "d"}, {"subject": "Fill"}])
        first = made["data"]["items"][0]["id"]
        assert told(frames) == [("created", "pending"), ("created", "pending")]
        update = next(frame for frame in frames if frame.event == "work_update")
        (change,) = await board.history(first)
        assert (change["task_id"], change["seq"], change["turn_id"]) == ("t1", update.id, update.data["turn_id"])
        assert (change["by"], change["person"]) == ("t1", False)
        _, frames = await board.call("task_claim", id=first)
        assert told(frames) == [("claimed", "in_progress")]
        item = await board.item(first)
        assert (item["owner"], item["owner_task_id"], item["task_id"]) == ("t1", "t1", "t1")
        listed, frames = await board.call("task_list", show="in_progress")
        assert first in listed["output"]
        assert told(frames) == []
        done, frames = await board.call("task_complete", id=first, result="deep enough")
        assert told(frames) == [("completed", "completed")]
        assert done["data"]["unblocked"] == []
        shown, _ = await board.call("task_get", id=first)
        assert "Result: deep enough" in shown["output"]


async def test_a_model_builds_a_graph_works_it_off_and_gives_back(opened: Opened) -> None:
    async with opened() as board:
        tasks = [{"subject": "a", "name": "a"}, {"subject": "b", "blocked_by": ["a"], "priority": 3}]
        made, _ = await board.call("task_create", tasks=tasks)
        a, b = (item["id"] for item in made["data"]["items"])
        refused, frames = await board.call("task_claim", id=b)
        assert refused["error"] == "WORK_CONFLICT"
        assert f"it waits for {a}" in refused["output"]
        assert refused["data"]["reason"] == "blocked"
        assert told(frames) == []
        assert "error" not in (await board.call("task_claim", id=a))[0]
        busy, _ = await board.call("task_claim", id=a)
        assert busy["data"]["reason"] == "already_claimed"
        other, _ = await board.call("task_complete", "t2", id=a)
        assert other["data"]["reason"] == "not_owner"
        done, _ = await board.call("task_complete", id=a)
        assert done["data"]["unblocked"] == [b]
        changed, _ = await board.call("task_update", id=b, subject="b, better", remove_blocked_by=[a])
        assert "b, better" in changed["output"]
        round_trip, _ = await board.call("task_update", id=b, add_blocked_by=[b])
        assert "cannot wait for itself" in round_trip["output"]
        await board.call("task_claim", id=b)
        back, frames = await board.call("task_release", id=b, reason="too hard")
        assert "[ready; priority 3]" in back["output"]
        assert [frame.data["reason"] for frame in frames if frame.event == "work_update"] == ["too hard"]
        gone, _ = await board.call("task_update", id=b, delete=True)
        assert gone["data"]["items"][0]["status"] == "deleted"


def scripted(item: str, then: Any) -> list[Rule]:
    """Claims the item, then does something else."""
    return [
        Rule(Reply([ToolCall("task_claim", {"id": item}, id="c1")]), match="^go", round=0),
        Rule(then, tool="task_claim"),
        Rule(Reply([Text("Well.")])),
    ]


async def test_an_item_stays_with_a_task_that_goes_on(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        board.model.script(scripted(item, Reply([Text("Tomorrow.")])))
        await board.engine.execute("go")
        assert (await board.item(item))["owner"] == "t1"


async def test_a_turn_that_is_cancelled_gives_its_item_back_in_its_last_commit(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        board.model.script(scripted(item, Reply([Text("One two three four five six.")], rate=2)))
        async with board.engine.executing("go") as stream:
            await stream.until("work_update", action="claimed")
            await stream.until("text_delta")
            await board.http.post("/execute/cancel", json={"task_id": "t1"})
            frames = await stream.rest()
        assert [frame.event for frame in frames[-2:]] == ["work_update", "thread_lifecycle"]
        released, end = frames[-2].data, frames[-1].data
        assert (released["action"], released["by"], end["phase"]) == ("released", "engine", "cancelled")
        assert (await board.item(item))["ready"]
        assert await board.claim(item, "next") == "claimed"


async def test_a_turn_that_fails_gives_its_item_back(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        board.model.script(scripted(item, Failure(400, message="no")))
        frames = await board.engine.execute("go")
        assert frames[-1].data["phase"] == "errored"
        assert told(frames) == [("claimed", "in_progress"), ("released", "pending")]
        newest = (await board.history(item))[0]
        assert (newest["action"], newest["detail"]["owner"], newest["seq"]) == ("released", "t1", frames[-2].id)


async def test_what_a_sub_agent_left_undone_goes_back_when_it_ends(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        board.model.script(
            [
                Rule(Reply([Text("I did something else.")]), tool="task_claim"),
                Rule(Reply([Text("So it is.")]), tool="spawn_agent"),
                Rule(Reply([ToolCall("spawn_agent", {"prompt": "work"}, id="s1")]), match="^go", round=0),
                Rule(Reply([ToolCall("task_claim", {"id": item}, id="c1")]), match="^work", round=0),
            ]
        )
        frames = await board.engine.execute("go")
        claimed = next(frame.data for frame in frames if frame.event == "work_update")
        assert (claimed["action"], claimed["depth"]) == ("claimed", 1)
        changes = await board.history(item)
        assert [change["action"] for change in changes] == ["released", "claimed", "created"]
        assert changes[0]["task_id"] == changes[1]["by"] != "t1"
        assert (await board.item(item))["ready"]


async def test_deleting_a_task_gives_its_item_back(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        await board.call("task_claim", id=item)
        assert (await board.http.delete("/tasks/t1")).is_success
        assert (await board.item(item))["ready"]


async def test_what_a_person_does_with_an_agents_item_is_told_on_its_thread(opened: Opened) -> None:
    async with opened() as board:
        made, _ = await board.call("task_create", tasks=[{"subject": "Dig"}])
        item = made["data"]["items"][0]["id"]
        await board.call("task_claim", "t2", id=item)
        assert said(await board.ask("complete", item, owner="t2"), "completed") == "not_owner"
        await board.done(item, "me", override=True)
        last = (await board.engine.replay(task_id="t2"))[-1]
        assert (last.event, last.data["action"], last.data["overrode"]) == ("work_update", "completed", True)
        assert (await board.history(item))[0]["seq"] == last.id
        assert (await board.ask("reopen", item))[0] == 200
        last = (await board.engine.replay(task_id="t2"))[-1]
        assert (last.data["action"], last.data["status"]) == ("reopened", "pending")


async def test_users_have_boards_of_their_own(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    eve = {"X-Engine-Key": keys.create(brain, "eve", "eve").key}
    async with ModelServer() as model, live(model, sqlite_db_path=brain, engine_api_key="the-key") as engine:
        own = Board(engine, model)
        (item,) = await own.ids("Dig")
        for verb in ("claim", "complete", "release", "reopen"):
            answer = await engine.http.post(f"/work/items/{item}/{verb}", json={}, headers=eve)
            assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND")
        for method, path in (("GET", ""), ("GET", "/history"), ("DELETE", "")):
            assert (await engine.http.request(method, f"/work/items/{item}{path}", headers=eve)).status_code == 404
        assert (await engine.http.get("/work/items", headers=eve)).json()["items"] == []
        assert (await engine.http.get("/work/boards", headers=eve)).json()["boards"] == []
        assert (await own.item(item))["version"] == 1
        call = json.dumps({"id": item})
        await _executed(engine, f"[[text=3 tools=1 tool=task_claim input={call}]] Do it.", eve["X-Engine-Key"])
        assert (await own.item(item))["owner"] is None


async def _executed(engine: Live, message: str, key: str) -> None:
    """A turn of somebody whose call finds nothing."""
    async with engine.executing(message, "t1", key=key) as stream:
        frames = await stream.rest()
    (result,) = (frame.data for frame in frames if frame.event == "tool_result")
    assert result["error"] == "NOT_FOUND"
