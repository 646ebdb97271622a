"""The agent's plan through HTTP: made, moved on, revised a few times, and never broken."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live

STEPS = [
    {"id": "s1", "text": "Read"},
    {"id": "s2", "text": "Write", "depends_on": ["s1"], "done_when": "tests green"},
]
DONE = Reply([Text("That is how far it came.")])


def update(*steps: dict[str, Any], **more: Any) -> Reply:
    return Reply([ToolCall("update_plan", {"steps": list(steps), **more})])


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model) as engine:
        yield engine


def states(event: dict[str, Any]) -> dict[str, str]:
    return {step["id"]: step.get("status", "pending") for step in event["steps"]}


async def test_a_plan_is_made_and_followed(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        update(*STEPS, goal="A fix"),
        update({"id": "s1", "status": "completed", "result": "read"}, {"id": "s2", "status": "in_progress"}),
        update({"id": "s2", "status": "completed", "result": "all tests are green"}),
        DONE,
    )
    frames = await aster.execute("go")
    made, begun, done = events(frames, "plan_update")
    assert (made["goal"], states(made)) == ("A fix", {"s1": "pending", "s2": "pending"})
    assert states(begun) == {"s1": "completed", "s2": "in_progress"}
    assert states(done) == {"s1": "completed", "s2": "completed"}
    assert {event.get("revision", 1) for event in (made, begun, done)} == {1}
    assert "[>] s2: Write" in events(frames, "tool_result")[1]["output"]
    shown = (await aster.http.get("/tasks/t1/plan")).json()["plan"]
    assert [step["status"] for step in shown["steps"]] == ["completed", "completed"]
    assert len(model.calls) == 4


async def test_two_changes_in_one_step_follow_each_other(aster: Live, model: ModelServer) -> None:
    first = ToolCall("update_plan", {"steps": [{"id": "s1", "status": "completed"}]}, id="c1")
    second = ToolCall("update_plan", {"steps": [{"id": "s2", "status": "in_progress"}]}, id="c2")
    model.enqueue(update(*STEPS, goal="A fix"), Reply([first, second]), DONE)
    assert states(events(await aster.execute("go"), "plan_update")[-1]) == {"s1": "completed", "s2": "in_progress"}


async def test_a_result_that_shows_nothing_is_a_failure(aster: Live, model: ModelServer) -> None:
    other = {"id": "s3", "text": "Ask somebody", "alternative_to": "s2"}
    move = ({"id": "s1", "status": "completed"}, {"id": "s2", "status": "completed", "result": "it does not work"})
    model.enqueue(update(*STEPS, other, goal="A fix"), update(*move), DONE)
    frames = await aster.execute("go")
    assert states(events(frames, "plan_update")[-1]) == {"s1": "completed", "s2": "failed", "s3": "pending"}
    told = events(frames, "tool_result")[-1]["output"]
    assert "s2 counts as failed" in told
    assert "Next: s3" in told


@pytest.mark.parametrize(
    "given",
    [
        {"steps": [{"id": "s3", "text": "x", "depends_on": ["ghost"]}]},
        {"steps": [{"id": "s1", "depends_on": ["s2"]}]},
        {"steps": [{"id": "s2", "status": "in_progress"}]},
        {"steps": [{"id": "new"}]},
        {"steps": []},
        {"steps": [{"id": "s1", "status": "finished"}]},
        {"steps": [{"id": "s1", "owner": "somebody"}]},
    ],
    ids=["unknown", "cycle", "order", "no-text", "nothing", "status", "field"],
)
async def test_what_breaks_the_plan_is_refused_and_changes_nothing(
    aster: Live, model: ModelServer, given: dict[str, Any]
) -> None:
    model.enqueue(update(*STEPS, goal="A fix"), Reply([ToolCall("update_plan", given)]), DONE)
    frames = await aster.execute("go")
    assert len(events(frames, "plan_update")) == 1
    assert events(frames, "tool_result")[-1]["error"] == "invalid_input"


async def test_a_plan_needs_a_goal(aster: Live, model: ModelServer) -> None:
    model.enqueue(update(*STEPS), Reply([Text("It did not work: there is no plan yet.")]))
    frames = await aster.execute("go")
    assert events(frames, "plan_update") == []
    assert "no plan yet" in events(frames, "tool_result")[0]["output"]


async def test_steps_are_changed_a_few_times_only(aster: Live, model: ModelServer) -> None:
    more = [update({"id": f"n{number}", "text": "more"}, reason="found out") for number in range(4)]
    model.enqueue(update(*STEPS, goal="A fix"), *more, update({"id": "s1", "status": "completed"}), DONE)
    frames = await aster.execute("go")
    assert [event.get("revision", 1) for event in events(frames, "plan_update")] == [1, 2, 3, 4, 4]
    assert "3 times already" in events(frames, "tool_result")[4]["output"]


async def test_a_later_turn_goes_on_with_the_plan_or_begins_another(aster: Live, model: ModelServer) -> None:
    model.enqueue(update(*STEPS, goal="A fix"), update({"id": "s1", "status": "completed", "result": "read"}), DONE)
    await aster.execute("go")
    model.enqueue(update({"id": "s2", "status": "in_progress"}), DONE)
    (moved,) = events(await aster.execute("go on"), "plan_update")
    assert (moved["goal"], states(moved)) == ("A fix", {"s1": "completed", "s2": "in_progress"})
    model.enqueue(update({"id": "s1", "text": "Something else"}, goal="Another"), DONE)
    (made,) = events(await aster.execute("now this"), "plan_update")
    assert (made["goal"], states(made), made.get("revision", 1)) == ("Another", {"s1": "pending"}, 1)


async def test_a_plan_may_be_made_where_nothing_may_be_changed(aster: Live, model: ModelServer) -> None:
    model.enqueue(update(*STEPS, goal="A fix"), DONE)
    frames = await aster.execute("go", permission_mode="plan")
    assert len(events(frames, "plan_update")) == 1
