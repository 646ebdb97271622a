"""The routes about recorded turns: complete trajectories, and recordings that hold no secret."""

import json
from typing import Any

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.replaying.stage import replayed, thread
from tests.live import Live, live

TOKEN = "tok-8d1f5c7a9b3e"
SHAPED = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def trajectory(engine: Live, task_id: str = "t1") -> dict[str, Any]:
    turn = (await engine.http.get(f"/tasks/{task_id}")).json()["turns"][-1]["turn_id"]
    response = await engine.http.get(f"/tasks/{task_id}/turns/{turn}/trajectory")
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_trajectory_has_everything_and_what_was_said_of_it_since() -> None:
    async with ModelServer() as model, live(model, llm_model="gpt-4o", sandbox="auto") as engine:
        fact = {"kind": "fact", "fields": {"content": "The blue heron nests at Grebe lake."}}
        kept = (await engine.http.post("/memory/records", json=fact)).json()["record"]["id"]
        bad, good = ToolCall("read_file", {"path": "none.md"}, id="r"), ToolCall("glob", {"pattern": "*"}, id="g")
        model.enqueue(Reply([bad, good]), Reply([Text("At Grebe lake, 42 of them.")]))
        await engine.execute("Where does the blue heron nest?")
        found = await trajectory(engine)
        events = {one["seq"]: one for one in await thread(engine, "t1")}
        assert [events[one["seq"]]["type"] for one in found["context"]] == ["context_manifest"] * 2
        assert [events[one["seq"]]["step"] for one in found["context"]] == [1, 2]
        for one in found["models"]:
            assert (one["model"], one.get("purpose", "step")) == ("gpt-4o", "step")
            assert min(one["input_tokens"], one["cost_usd"]) > 0
            assert one["duration_ms"] >= 0
            assert events[one["seq"]]["type"] == "usage"
        failed, looked = found["tools"]
        assert (failed["tool"], failed["input"], failed["ok"]) == ("read_file", {"path": "none.md"}, False)
        assert (failed["outcome"], failed["effect"], failed["attempts"]) == ("diagnostic", "pure", 1)
        assert (looked["outcome"], looked["error"], looked["duration_ms"] >= 0) == ("ok", None, True)
        assert events[looked["result_seq"]]["type"] == "tool_result"
        assert events[looked["asked_seq"]]["type"] == "content_block_stop"
        assert [(one["id"], one["used"]) for one in found["recalled"]] == [(kept, True)]
        assert [one["action"] for one in found["verdicts"]] in ([], ["repair"], ["note"], ["none"])
        assert (found["feedback"], found["model_calls"]) == ([], len(found["models"]))
        said = {"turn_id": found["turn_id"], "rating": "down", "correction": "It nests at Teal lake."}
        assert (await engine.http.post("/feedback", json=said)).status_code == 200
        [signal] = (await trajectory(engine))["feedback"]
        assert (signal["rating"], signal["correction"]) == (-1.0, "It nests at Teal lake.")


async def test_a_recording_is_redacted_again_and_everywhere_alike() -> None:
    call = ToolCall("bash", {"command": f"echo {TOKEN} {SHAPED}"}, id="b")
    rules = [Rule(Reply([call]), round=0), Rule(Reply([Text(f"It says {TOKEN}.")]))]
    async with ModelServer(rules) as model, live(model, sandbox="auto") as engine:
        await engine.execute(f"before, with {TOKEN}")
        await engine.execute("go")
        engine.engine.secrets.register(TOKEN, "the token")
        response = await engine.http.get("/tasks/t1/recording")
        assert response.status_code == 200, response.text
        assert (TOKEN in response.text, SHAPED in response.text) == (False, False)
        made = response.json()
        assert (made["task_id"], made["model"]) == ("t1", "gpt-4o")
        assert [message["role"] for message in made["history"]] == ["user", "assistant", "user", "assistant"]
        [block] = [one["block"] for one in made["events"] if one.get("block_type") == "tool_use"]
        [issued] = [one for one in made["events"] if one["type"] == "tool_call"]
        assert block["input"] == issued["input"]
        assert "[redacted: the token]" in json.dumps(block["input"])
        assert (await engine.http.get("/tasks/none/recording")).status_code == 404


async def test_a_body_is_checked_and_unknown_fields_are_told() -> None:
    async with ModelServer() as model, live(model) as engine:
        model.enqueue(Reply([Text("hi")]), Reply([Text("hi")]))
        await engine.execute("hello")
        response = await engine.http.post("/tasks/t1/replay", json={"colour": "blue"})
        assert (response.status_code, "colour" in response.headers["X-Aster-Warning"]) == (200, True)
        for wrong in ({"max_usd": -1}, {"unrecorded": "run"}, {"from_seq": "x"}):
            refused = await engine.http.post("/tasks/t1/replay", json=wrong)
            assert (refused.status_code, refused.json()["details"]["fields"][0]["field"]) == (
                422,
                next(iter(wrong)),
            )
        model.enqueue(Reply([Text("hi")]))
        report = await replayed(engine, replay_task_id="mine/1")
        assert report["same"]
        assert (await engine.http.get("/tasks/t1/replays/mine%2F1")).json() == report
