"""What few conversations need is brought when it is wanted: a board, a team, projects."""

import json
from typing import Any

from aster.testing import ModelServer
from tests.live import Live, live
from tests.work.places import Place

BOARD = {"task_create", "task_list", "task_get", "task_update", "task_claim", "task_complete", "task_release"}


def told(model: ModelServer, at: int = -1) -> set[str]:
    return {tool["function"]["name"] for tool in model.calls[at].body["tools"]}


async def call(engine: Live, tool: str, task_id: str = "t1", **given: Any) -> dict[str, Any]:
    frames = await engine.execute(f"[[text=3 tools=1 tool={tool} input={json.dumps(given)}]] Do it.", task_id)
    (result,) = (frame.data for frame in frames if frame.event == "tool_result")
    return result


async def test_a_model_brings_a_team_and_has_it_until_the_end_of_the_conversation(place: Place) -> None:
    async with ModelServer() as model:
        async with live(model, **place.settings) as engine:
            result = await call(engine, "open_tools", kinds=["team"])
            before, after = told(model, -2), told(model)
            assert "open_tools" in before
            assert not before & {*BOARD, "spawn_team", "manage_projects"}
            assert after - before == {*BOARD, "spawn_team"}
            assert "spawn_team" in result["output"]
        async with live(model, **place.settings) as engine:
            await engine.execute("[[text=3]] And now?", "t1")
            assert told(model) == after
            await engine.execute("[[text=3]] Something else.", "t2")
            assert told(model) == before
            await call(engine, "task_create", tasks=[{"subject": "Dig"}])
            await engine.execute("[[text=3]] Something else.", "t2")
            assert told(model) == after


async def test_projects_are_brought_alone(place: Place) -> None:
    async with ModelServer() as model, live(model, **place.settings) as engine:
        await call(engine, "open_tools", kinds=["projects"])
        assert told(model) - told(model, -2) == {"manage_projects"}


async def test_what_the_operator_switched_off_is_not_brought() -> None:
    async with ModelServer() as model:
        async with live(model, work_tools="off", team_tools="off", project_tools="off") as engine:
            result = await call(engine, "open_tools", kinds=["work"])
            assert result["error"] == "unknown_tool"
            assert not told(model) & {*BOARD, "open_tools", "spawn_team", "manage_projects"}
        async with live(model, project_tools="off") as engine:
            result = await call(engine, "open_tools", kinds=["projects"])
            assert result["error"] == "invalid_input"
            assert "manage_projects" not in told(model)


async def test_nobody_brings_a_team_where_nobody_could_confirm_it() -> None:
    async with ModelServer() as model, live(model) as engine:
        text = '[[text=3 tools=1 tool=open_tools input={"kinds":["team"]}]] Do it.'
        await engine.execute(text, "t1", unattended=True)
        assert "task_create" in told(model)
        assert "spawn_team" not in told(model)


async def test_a_call_that_was_refused_opens_nothing_and_harms_nothing() -> None:
    async with ModelServer() as model, live(model) as engine:
        for kinds in (5, [["work"]], ["work", "everything"], None):
            result = await call(engine, "open_tools", kinds=kinds)
            assert result["error"] == "invalid_input"
            assert not told(model) & {*BOARD, "spawn_team", "manage_projects"}
        frames = await engine.execute("[[text=3]] And now?", "t1")
        assert frames[-1].data["phase"] == "completed"
        assert not told(model) & {*BOARD, "spawn_team", "manage_projects"}
