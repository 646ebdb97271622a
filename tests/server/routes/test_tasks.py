"""Tasks over HTTP: list, look into, read, fork, delete."""

import pytest
from httpx2 import Response

from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from tests.live import Live


async def talk(engine: Live, model: ModelServer, task: str, message: str = "hi") -> int:
    """One turn; how many events it made."""
    model.enqueue(Reply([Text("ok")]))
    return len(await engine.execute(message, task))


async def error(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


class TestList:
    async def test_newest_change_first_page_by_page(self, engine: Live, model: ModelServer, task: str) -> None:
        names = [f"{task}-{number}" for number in range(5)]
        for name in names:
            await talk(engine, model, name, f"about {task}")
        found: list[str] = []
        query = {"limit": "2", "search": task}
        while True:
            page = (await engine.http.get("/tasks", params=query)).json()
            found += [item["task_id"] for item in page["tasks"]]
            if page["next"] is None:
                break
            query["before"] = page["next"]
        assert found == names[::-1]

    async def test_a_listed_task(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task, "  a   title\nof words ")
        (item,) = (await engine.http.get("/tasks", params={"search": task})).json()["tasks"]
        assert (item["title"], item["status"], item["active_turn_id"]) == ("a title of words", "idle", None)
        assert item["created_at"] <= item["updated_at"]

    async def test_a_listed_task_says_what_it_cost_with_its_sub_agents(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([ToolCall("spawn_agent", {"prompt": "look"}, id="s1")]))
        model.enqueue(Reply([Text("seen")]))
        model.enqueue(Reply([Text("ok")]))
        await engine.execute("hi", task)
        (item,) = (await engine.http.get("/tasks", params={"search": task})).json()["tasks"]
        (child,) = (await engine.http.get("/tasks", params={"parent": task})).json()["tasks"]
        detail = (await engine.http.get(f"/tasks/{task}")).json()
        own = sum(turn["cost_usd"] for turn in detail["turns"])
        assert 0 < child["cost_usd"] < item["cost_usd"] == detail["cost_usd"]
        assert item["cost_usd"] == pytest.approx(own + child["cost_usd"])

    async def test_by_status(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("a "), Hold(task), Text("b")]))
        async with engine.executing("hi", task) as stream:
            await stream.until("text_delta")
            running = (await engine.http.get("/tasks", params={"status": "running"})).json()["tasks"]
            assert [item["task_id"] for item in running] == [task]
            assert running[0]["active_turn_id"] == stream.headers["x-turn-id"]
            model.release(task)
            await stream.rest()

    @pytest.mark.parametrize(
        ("query", "field"),
        [({"limit": "501"}, "limit"), ({"status": "asleep"}, "status"), ({"before": "no-cursor"}, "before")],
    )
    async def test_a_wrong_question(self, engine: Live, query: dict[str, str], field: str) -> None:
        answer = await engine.http.get("/tasks", params=query)
        assert await error(answer) == (422, "INVALID_REQUEST")
        assert answer.json()["details"]["fields"][0]["field"] == field


class TestDetail:
    async def test_a_task_with_its_turns_and_what_waits(self, engine: Live, model: ModelServer, task: str) -> None:
        count = await talk(engine, model, task)
        model.enqueue(Reply([Text("a "), Hold(task), Text("b")]), Reply([Text("c")]))
        async with engine.executing("two", task) as stream:
            await stream.until("text_delta")
            async with engine.executing("three", task, on_busy="queue") as queued:
                await queued.until("task_lifecycle", phase="queued")
                found = (await engine.http.get(f"/tasks/{task}")).json()
                model.release(task)
                await queued.rest()
        first, second = found["turns"]
        assert (first["status"], first["first_seq"], first["last_seq"]) == ("completed", 1, count)
        assert (first["model_calls"], first["stop_reason"]) == (1, "end_turn")
        assert (second["status"], second["last_seq"], second["ended_at"]) == ("running", None, None)
        assert (found["status"], found["active_turn_id"]) == ("running", second["turn_id"])
        (waiting,) = found["inbox"]
        assert (waiting["message"], waiting["mode"], waiting["media"]) == ("three", "queue", 0)
        assert waiting["message_id"] == queued.headers["x-message-id"]
        assert found["pending"] == []

    async def test_no_such_task(self, engine: Live, task: str) -> None:
        for path in (f"/tasks/{task}", f"/tasks/{task}/events", f"/tasks/{task}/turns/x/trajectory"):
            assert await error(await engine.http.get(path)) == (404, "TASK_NOT_FOUND")
        assert await error(await engine.http.delete(f"/tasks/{task}")) == (404, "TASK_NOT_FOUND")
        assert await error(await engine.http.post(f"/tasks/{task}/fork", json={"seq": 1})) == (
            404,
            "TASK_NOT_FOUND",
        )


class TestEvents:
    async def test_page_by_page_they_are_the_stream(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("some words to read")]))
        streamed = await engine.execute("hi", task)
        after, pages = 0, []
        while True:
            query = {"after_seq": str(after), "limit": "3"}
            page = (await engine.http.get(f"/tasks/{task}/events", params=query)).json()
            pages += page["events"]
            after = page["next_after_seq"]
            if after == page["head_seq"]:
                break
        assert pages == [frame.data for frame in streamed]
        beyond = (await engine.http.get(f"/tasks/{task}/events", params={"after_seq": str(after)})).json()
        assert beyond == {"events": [], "next_after_seq": after, "head_seq": after}

    async def test_of_some_types_only(self, engine: Live, model: ModelServer, task: str) -> None:
        count = await talk(engine, model, task)
        query = {"types": "thread_lifecycle, usage"}
        page = (await engine.http.get(f"/tasks/{task}/events", params=query)).json()
        assert [event["type"] for event in page["events"]] == ["thread_lifecycle", "usage", "thread_lifecycle"]
        assert page["next_after_seq"] == page["head_seq"] == count
        first = (await engine.http.get(f"/tasks/{task}/events", params={**query, "limit": "1"})).json()
        assert ([event["seq"] for event in first["events"]], first["next_after_seq"]) == ([1], 1)

    async def test_of_an_unknown_type(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task)
        answer = await engine.http.get(f"/tasks/{task}/events", params={"types": "usage,gossip"})
        assert await error(answer) == (422, "INVALID_REQUEST")
        assert "gossip" in answer.json()["message"]


class TestFork:
    async def test_a_fork_begins_where_the_other_stood(self, engine: Live, model: ModelServer, task: str) -> None:
        seq = await talk(engine, model, task)
        await talk(engine, model, task)
        body = {"seq": seq, "task_id": f"{task}-fork", "colour": "blue"}
        answer = await engine.http.post(f"/tasks/{task}/fork", json=body)
        assert answer.status_code == 201
        made = answer.json()
        assert (made["task_id"], made["from_task_id"], made["from_seq"]) == (f"{task}-fork", task, seq)
        assert answer.headers["x-aster-warning"] == "unknown fields ignored: colour"
        found = (await engine.http.get(f"/tasks/{task}-fork")).json()
        assert (found["from_task_id"], found["from_seq"], found["head_seq"]) == (task, seq, made["head_seq"])
        assert len(found["turns"]) == 1

    async def test_where_a_task_is_already(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task)
        answer = await engine.http.post(f"/tasks/{task}/fork", json={"seq": 1, "task_id": task})
        assert await error(answer) == (409, "TASK_EXISTS")

    @pytest.mark.parametrize("seq", [0, 10_000, "1"])
    async def test_at_a_place_that_is_not_there(
        self, engine: Live, model: ModelServer, task: str, seq: object
    ) -> None:
        await talk(engine, model, task)
        answer = await engine.http.post(f"/tasks/{task}/fork", json={"seq": seq})
        assert await error(answer) == (422, "INVALID_REQUEST")
        assert answer.json()["details"]["fields"][0]["field"] == "seq"


class TestDelete:
    async def test_a_deleted_task_is_gone(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task)
        assert (await engine.http.delete(f"/tasks/{task}")).json() == {"status": "deleted", "task_id": task}
        assert await error(await engine.http.get(f"/tasks/{task}")) == (404, "TASK_NOT_FOUND")
        assert (await engine.http.get("/tasks", params={"search": task})).json()["tasks"] == []

    async def test_a_running_one_stays(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("a "), Hold(task), Text("b")]))
        async with engine.executing("hi", task) as stream:
            await stream.until("text_delta")
            assert await error(await engine.http.delete(f"/tasks/{task}")) == (409, "TASK_BUSY")
            model.release(task)
            await stream.rest()


class TestTrajectory:
    async def test_of_an_ended_turn(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task)
        (turn,) = (await engine.http.get(f"/tasks/{task}")).json()["turns"]
        answer = await engine.http.get(f"/tasks/{task}/turns/{turn['turn_id']}/trajectory")
        assert answer.status_code == 200
        assert isinstance(answer.json(), dict)

    async def test_of_a_turn_of_another_task(self, engine: Live, model: ModelServer, task: str) -> None:
        await talk(engine, model, task)
        await talk(engine, model, f"{task}-b")
        (turn,) = (await engine.http.get(f"/tasks/{task}")).json()["turns"]
        answer = await engine.http.get(f"/tasks/{task}-b/turns/{turn['turn_id']}/trajectory")
        assert await error(answer) == (404, "NOT_FOUND")
