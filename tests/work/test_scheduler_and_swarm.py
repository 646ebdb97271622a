"""Cases 115 and 117 of the list that these abilities come from, through HTTP, on a file and on PostgreSQL: what a
scheduler keeps, and work that is handed to several agents at once."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.live import Live, Seen, Stream, live
from tests.work.places import Place
from tests.work.schedules.clockwork import made

NINE: dict[str, Any] = {"cron": "0 9 * * *", "time_zone": "UTC"}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def names(engine: Live, status: str = "active") -> list[str]:
    found = (await engine.http.get("/schedules", params={"status": status})).json()["schedules"]
    return sorted(one["name"] for one in found)


async def test_115_what_is_sound_is_kept_over_a_restart_and_stopping_one_stops_one(
    model: ModelServer, place: Place
) -> None:
    async with live(model, **place.settings) as engine:
        await made(engine, name="cron", **NINE)
        kept = await made(engine, name="interval", every_seconds=3600)
        gone = await made(engine, name="gone", every_seconds=60)
        for wrong in ({"cron": "every day"}, {"every_seconds": "interval:x"}, {"every_seconds": -5}):
            assert (await engine.http.post("/schedules", json={"prompt": "x", **wrong})).status_code == 422
        assert (await engine.http.delete(f"/schedules/{gone['schedule_id']}")).status_code == 200
        assert await names(engine) == ["cron", "interval"]
        bad = await made(engine, name="bad", every_seconds=3600)
    blob = "X'7b'" if place.url is None else "'\\x7b'"
    place.run(
        f"UPDATE schedules SET next_at = 0, spec = {blob} WHERE schedule_id = '{bad['schedule_id']}' RETURNING number"
    )
    async with live(model, **place.settings) as engine:
        assert await names(engine) == ["cron", "interval"]
        assert await names(engine, "cancelled") == ["gone"]
        again = (await engine.http.get(f"/schedules/{kept['schedule_id']}")).json()
        assert again["coming"] == kept["coming"]


def spawn(prompt: str) -> ToolCall:
    return ToolCall("spawn_agent", {"prompt": prompt, "background": True}, id=prompt)


def results(frames: list[Seen], tool: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if frame.event == "tool_result" and frame.data["tool"] == tool]


async def test_117_where_there_is_nobody_to_hand_work_to_that_is_said(model: ModelServer, place: Place) -> None:
    model.script([Rule(Reply([spawn("left")]), match="^go", round=0), Rule(Reply([Text("I do it myself.")]))])
    async with live(model, subagent_depth=0, **place.settings) as engine:
        (refused,) = results(await engine.execute("go"), "spawn_agent")
        assert refused["error"] == "unknown_tool"
        assert refused["output"].startswith("Unknown tool: spawn_agent. The tools are:")


async def test_117_that_one_is_down_is_told_and_the_others_are_heard(model: ModelServer, place: Place) -> None:
    model.script(
        [
            Rule(Failure(status=400), match="^left"),
            Rule(Reply([Text("right is done")]), match="^right"),
            Rule(
                Reply([ToolCall("spawn_agent", {"prompt": side}, id=side) for side in ("left", "right")]),
                match="^go",
                round=0,
            ),
            Rule(Reply([Text("One of them failed.")])),
        ]
    )
    async with live(model, **place.settings) as engine:
        left, right = sorted(
            results(await engine.execute("go"), "spawn_agent"), key=lambda one: one["tool_call_id"]
        )
        assert left["error"] is not None
        assert "LLM_PROVIDER_ERROR" in left["output"]
        assert (right.get("error"), right["output"]) == (None, "right is done")


async def test_117_one_that_hangs_is_partial_within_the_deadline(model: ModelServer, place: Place) -> None:
    model.script(
        [
            Rule(Reply([Hold("left"), Text("late")]), match="^left"),
            Rule(Reply([Text("right is done")]), match="^right"),
            Rule(Reply([spawn("left"), spawn("right")]), match="^go", round=0),
            Rule(Reply([Hold("parent"), ToolCall("glob", {"pattern": "*"}, id="g")]), tool="spawn_agent"),
            Rule(Reply([Text("One has answered, the other has not.")]), tool="agent_output"),
        ]
    )
    async with live(model, **place.settings) as engine, engine.executing("go") as stream:
        ids = await _begun(stream)
        waits = [ToolCall("agent_output", {"id": ids[side], "timeout_seconds": 1}, id=f"o-{side}") for side in ids]
        model.enqueue(Reply(waits))
        began = time.monotonic()
        model.release("parent")
        frames = await stream.rest()
        assert time.monotonic() - began < 10
        found = {one["tool_call_id"]: one for one in results(frames, "agent_output")}
        assert found["o-left"]["data"]["status"] == "running"
        assert "right is done" in found["o-right"]["output"]
        assert frames[-1].data["phase"] == "completed"
        model.release("left")


async def _begun(stream: Stream) -> dict[str, str]:
    """The tasks of the two that were begun."""
    ids: dict[str, str] = {}
    while len(ids) < 2:
        frame = (await stream.until("subagent_lifecycle", phase="started")).data
        ids[frame["description"]] = frame["child_task_id"]
    return ids
