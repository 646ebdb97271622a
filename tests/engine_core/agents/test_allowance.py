"""Beyond a budget: a person is asked once, and the answer holds for all who spend from it."""

from typing import Any

from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events
from tests.live import Live, live, text_of

DEAR = Usage(input=200_000)
"""Half a dollar."""
PRICED: dict[str, Any] = {"llm_model": "gpt-4o", "max_tokens": 100}


def spawn(prompt: str, call_id: str) -> ToolCall:
    return ToolCall("spawn_agent", {"prompt": prompt}, id=call_id)


def look(call_id: str) -> ToolCall:
    return ToolCall("glob", {"pattern": "*"}, id=call_id)


async def say(engine: Live, asked: dict[str, Any], answer: str) -> None:
    given = {"request_id": asked["request_id"], "answer": answer}
    assert (await engine.http.post("/hitl/respond", json=given)).status_code == 200


async def test_what_is_allowed_to_a_child_is_allowed_to_its_parent(model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("did it")], usage=DEAR), tool="glob"),
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([spawn("work", "s1")]), match="^go", round=0),
            Rule(Reply([look("g")], usage=DEAR), match="^work", round=0),
        ]
    )
    async with live(model, budget_turn_usd=0.53, **PRICED) as engine, engine.executing("go") as stream:
        asked = (await stream.until("hitl_request")).data
        assert (asked["depth"], asked["input"]["rung"]) == (1, "exceeded")
        await say(engine, asked, "yes")
        ended = (await stream.until("subagent_lifecycle", phase="completed")).data
        assert ended["cost_usd"] >= 1.0
        assert [case["up_to_usd"] for case in ended["granted"]] == [asked["input"]["up_to_usd"]]
        frames = await stream.rest()
    assert text_of(frames) == "the end"
    assert len(events(frames, "hitl_request")) == 1


async def test_what_is_allowed_to_a_parent_is_allowed_to_its_children(model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([spawn("work", "s1")]), tool="glob"),
            Rule(Reply([look("g")], usage=DEAR), match="^go", round=0),
            Rule(Reply([Text("cheap")]), match="^work"),
        ]
    )
    async with live(model, budget_turn_usd=0.5, **PRICED) as engine, engine.executing("go") as stream:
        await say(engine, (await stream.until("hitl_request")).data, "yes")
        frames = await stream.rest()
    assert text_of(frames) == "the end"
    assert len(events(frames, "hitl_request")) == 1
    assert events(frames, "subagent_lifecycle")[1]["phase"] == "completed"


async def test_two_that_ask_the_same_are_answered_together(model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("done")]), match="^work", tool="glob"),
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([spawn("work one", "s1"), spawn("work two", "s2")]), match="^go", round=0),
            Rule(Reply([Hold("both"), look("g")], usage=DEAR), match="^work", round=0),
        ]
    )
    async with live(model, budget_turn_usd=0.9, **PRICED) as engine, engine.executing("go") as stream:
        await model.wait_held("both", count=2)
        model.release("both")
        first = (await stream.until("hitl_request")).data
        second = (await stream.until("hitl_request")).data
        assert first["parent_turn_id"] == second["parent_turn_id"]
        await say(engine, first, "yes")
        frames = await stream.rest()
        pending = (await engine.http.get("/hitl/pending")).json()["pending"]
    assert pending == []
    assert text_of(frames) == "the end"
    resolved = events(frames, "hitl_resolved")
    assert {one["request_id"] for one in resolved} == {first["request_id"], second["request_id"]}
    assert [one["up_to_usd"] for one in resolved if "up_to_usd" in one] == [first["input"]["up_to_usd"]]


async def test_a_no_is_for_the_one_that_asked(model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([spawn("work", "s1")]), match="^go", round=0),
            Rule(Reply([look("g")], usage=DEAR), match="^work", round=0),
        ]
    )
    async with live(model, budget_turn_usd=0.53, **PRICED) as engine, engine.executing("go") as stream:
        await say(engine, (await stream.until("hitl_request", depth=1)).data, "no")
        ended = (await stream.until("subagent_lifecycle", phase="errored")).data
        assert "granted" not in ended
        assert (await stream.until("hitl_request")).data.get("depth", 0) == 0
