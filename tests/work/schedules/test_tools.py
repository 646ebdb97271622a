"""Schedules that a model makes, through the turns of a person."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live
from tests.work.schedules.clockwork import Hands, settled, timed, told


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def called(engine: Live, tool: str, task_id: str = "t1", body: Any = None, **given: Any) -> dict[str, Any]:
    """What a tool gave in a turn of a task."""
    message = f"[[text=3 tools=1 tool={tool} input={json.dumps(given)}]] Do it."
    (result,) = events(await engine.execute(message, task_id, **(body or {})), "tool_result")
    return result


async def test_a_model_makes_lists_and_cancels(model: ModelServer) -> None:
    hands = Hands()
    async with timed(model, hands, time_zone="Europe/Berlin") as engine:
        made = await called(engine, "schedule_create", prompt="Water.", cron="0 10 * * *", name="plants")
        assert "First due 2026-11-16T09:00:00.000Z" in made["output"]
        listed = await called(engine, "schedule_list")
        assert "0 10 * * * (Europe/Berlin)" in listed["output"]
        assert "plants" in listed["output"]
        (found,) = (await engine.http.get("/schedules")).json()["schedules"]
        assert found["task_id"] == "t1"
        hands.forward(3600)
        await settled(engine, found, "delivered")
        gone = await called(engine, "schedule_cancel", task_id="t2", id=found["schedule_id"])
        assert gone["output"].startswith("Cancelled")
        assert "(no schedules)" in (await called(engine, "schedule_list", task_id="t2"))["output"]
        wrong = await called(engine, "schedule_cancel", task_id="t2", id="schedule-nowhere")
        assert "There is no schedule" in wrong["output"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"cron": "61 * * * *"}, "minute has 61"),
        ({}, "exactly one of"),
        ({"cron": "@daily", "at": "2027-01-01T00:00:00Z"}, "exactly one of"),
        ({"at": "soon"}, "is not a time"),
        ({"watch_command": "rm -rf /", "every_seconds": 10}, "may not run by itself"),
    ],
)
async def test_what_is_wrong_is_said_to_the_model(model: ModelServer, given: dict[str, Any], problem: str) -> None:
    async with live(model) as engine:
        result = await called(engine, "schedule_create", prompt="x", **given)
        assert problem in result["output"]
        assert result["error"]
        assert (await engine.http.get("/schedules")).json()["schedules"] == []


async def test_a_turn_that_began_by_itself_makes_no_more_of_them(model: ModelServer) -> None:
    hands = Hands()
    given = json.dumps({"prompt": "x", "every_seconds": 10})
    async with timed(model, hands) as engine:
        prompt = f"[[text=1 tools=1 tool=schedule_create input={given}]] Again."
        made = await engine.http.post("/schedules", json={"prompt": prompt, "at": "2026-11-16T09:00:00Z"})
        hands.forward(3600)
        (row,) = await settled(engine, made.json(), "delivered")
        hands.forward(2)
        await settled(engine, made.json(), "acknowledged")
        (result,) = await told(engine, row["task_id"], "tool_result")
        assert "makes no schedules" in result["output"]
        assert len((await engine.http.get("/schedules")).json()["schedules"]) == 1


async def test_what_a_model_makes_has_the_authority_of_its_turn(model: ModelServer) -> None:
    async with live(model, permission_mode="default") as engine:
        narrow = {"description": "d", "system_prompt": "p", "tools": ["schedule_*", "spawn_agent"]}
        assert (await engine.http.put("/agents/narrow", json=narrow)).status_code == 200
        await called(engine, "schedule_create", body={"agent": "narrow"}, prompt="x", cron="@daily", new_task=True)
        (found,) = (await engine.http.get("/schedules")).json()["schedules"]
        assert (found["agent"], found["permission_mode"], found["task_id"]) == ("narrow", "default", None)
        given = json.dumps({"prompt": "x", "every_seconds": 10})
        inner = f"[[text=1 tools=1 tool=schedule_create input={given}]] Make one."
        model.script(
            [
                Rule(Reply([ToolCall("spawn_agent", {"prompt": inner})]), match="^hand it on", round=0),
                Rule(Reply([Text("handed on")]), match="^hand it on"),
            ]
        )
        frames = await engine.execute("hand it on", "t2")
        assert any("A sub-agent makes no schedules" in str(frame.data) for frame in frames)
        assert len((await engine.http.get("/schedules")).json()["schedules"]) == 1


async def test_it_can_be_left_out(model: ModelServer) -> None:
    async with live(model, schedule_tools=False) as engine:
        names = {tool["definition"]["name"] for tool in (await engine.http.get("/tools")).json()["tools"]}
        assert not {name for name in names if name.startswith("schedule_")}
    async with live(model) as engine:
        names = {tool["definition"]["name"] for tool in (await engine.http.get("/tools")).json()["tools"]}
        assert {"schedule_create", "schedule_list", "schedule_cancel"} <= names
