"""The agent's list, through HTTP: on the thread, whole, and reminded of."""

from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live


def todos(*states: str) -> ToolCall:
    steps = [{"content": f"step {number}", "status": status} for number, status in enumerate(states)]
    return ToolCall("todo_write", {"todos": steps})


def look(number: int) -> Reply:
    return Reply([ToolCall("bash", {"command": f"echo {number}"})])


def user_texts(body: dict[str, Any]) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] == "user"]


@pytest.fixture
async def model() -> Any:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> Any:
    async with live(model, sandbox="auto") as engine:
        yield engine


async def test_the_list_is_an_event_and_replaced_whole(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        Reply([todos("in_progress", "pending")]), Reply([todos("completed", "in_progress")]), Reply([Text("ok")])
    )
    frames = await aster.execute("go")
    lists = [[todo["status"] for todo in data["todos"]] for data in events(frames, "todo_update")]
    assert lists == [["in_progress", "pending"], ["completed", "in_progress"]]
    assert events(frames, "tool_result")[1]["output"] == "[x] step 0\n[>] step 1\n(1/2 completed)"


@pytest.mark.parametrize(
    "wrong",
    [
        [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}],
        [{"content": "  ", "status": "pending"}],
        [{"content": "a", "status": "someday"}],
        [{"content": str(number), "status": "pending"} for number in range(21)],
    ],
)
async def test_a_wrong_list_leaves_the_old_one(
    aster: Live, model: ModelServer, wrong: list[dict[str, str]]
) -> None:
    model.enqueue(Reply([todos("pending")]), Reply([ToolCall("todo_write", {"todos": wrong})]), Reply([Text("ok")]))
    frames = await aster.execute("go")
    assert events(frames, "tool_result")[1]["error"] == "invalid_input"
    assert len(events(frames, "todo_update")) == 1


async def test_the_same_list_again_is_not_written_again(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([todos("pending")]), Reply([todos("pending")]), Reply([Text("ok")]))
    frames = await aster.execute("go")
    assert len(events(frames, "todo_update")) == 1
    assert len(events(frames, "tool_call")) == 1
    assert "Done before" in events(frames, "tool_result")[1]["output"]
    assert "error" not in events(frames, "tool_result")[1]


async def test_the_reminder_comes_on_the_third_round_without_an_update(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([todos("pending")]), *map(look, range(7)), Reply([Text("ok")]))
    await aster.execute("go")
    reminded = [sum("list of steps" in text for text in user_texts(call.body)) for call in model.calls]
    assert reminded == [0, 0, 0, 0, 1, 1, 1, 2, 2]


async def test_an_update_starts_the_count_anew_and_a_finished_list_is_left_alone(
    aster: Live, model: ModelServer
) -> None:
    model.enqueue(
        Reply([todos("pending")]),
        look(1),
        look(2),
        Reply([todos("completed")]),
        *map(look, range(3, 8)),
        Reply([Text("ok")]),
    )
    await aster.execute("go")
    assert not any("list of steps" in text for text in user_texts(model.calls[-1].body))
