"""The planner through HTTP: when it is asked, what becomes of its plan, and what never does."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aster.engine_core.planning.draft import INSTRUCTIONS, REVISE
from aster.engine_core.planning.planner import FAILURES
from aster.testing import Failure, ModelServer, RecordedCall, Reply, Rule, Stall, Text, ToolCall
from aster.utility_directory.plan_tree import MOST_REVISIONS
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of

WORK = (
    "Please do this:\n1. read the log of yesterday\n2. find the first error in it\n3. write a report on the cause"
)
PLANNER = r"^You plan work"
DONE = Reply([Text("All done.")])
SORRY = Reply([Text("None of it worked: the files do not exist.")])


def drafted(*ids: str, goal: str = "A report", **more: Any) -> Reply:
    steps = [{"id": id_, "text": f"do {id_}", **more} for id_ in ids]
    return Reply([Text(json.dumps({"goal": goal, "steps": steps}))])


def failing(number: int) -> Reply:
    return Reply([ToolCall("read_file", {"path": f"missing-{number}.txt"})])


def replying(model: ModelServer, *work: Reply, planner: Sequence[Reply | Failure] = (), end: Reply = DONE) -> None:
    """The model answers step by step, and the planner by itself; each with its last words for ever."""
    plans, answers = iter(planner), iter(work)

    def answer(call: RecordedCall) -> Reply | Failure:
        if call.conversation.system == INSTRUCTIONS:
            return next(plans, drafted("s1", "s2", "s3"))
        return next(answers, end)

    model.script([answer])


def planning(model: ModelServer) -> list[RecordedCall]:
    return [call for call in model.calls if call.conversation.system == INSTRUCTIONS]


def steps(model: ModelServer) -> list[RecordedCall]:
    return [call for call in model.calls if call.conversation.system != INSTRUCTIONS]


def said(call: RecordedCall) -> str:
    return json.dumps(call.body["messages"], ensure_ascii=False)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script([Rule(drafted("s1", "s2", "s3"), system=PLANNER), Rule(DONE)])
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model) as engine:
        yield engine


async def test_work_of_several_steps_is_planned_first(aster: Live, model: ModelServer) -> None:
    frames = await aster.execute(WORK)
    (asked,), (step,) = planning(model), steps(model)
    assert "tools" not in asked.body
    assert asked.body["response_format"]["json_schema"]["strict"] is True
    assert json.loads(asked.text)["request"] == WORK
    (event,) = events(frames, "plan_update")
    assert [item["id"] for item in event["steps"]] == ["s1", "s2", "s3"]
    assert (event["goal"], event.get("revision", 1)) == ("A report", 1)
    assert "[ ] s1: do s1" in said(step)
    assert "update_plan" in said(step)
    assert text_of(frames) == "All done."
    used = events(frames, "usage")
    assert [data.get("purpose", "step") for data in used] == ["plan", "step"]
    shown = (await aster.http.get("/tasks/t1/plan")).json()["plan"]
    assert (shown["goal"], shown["seq"]) == ("A report", event["seq"])


@pytest.mark.parametrize(
    ("message", "body", "settings"),
    [
        ("hello", {}, {}),
        ("Run the tests and tell me what fails.", {}, {}),
        (WORK, {"direct": True}, {}),
        (WORK, {"permission_mode": "plan"}, {}),
        (WORK, {}, {"planning": "off"}),
    ],
    ids=["trivial", "one-step", "direct", "plan-mode", "off"],
)
async def test_everything_else_takes_one_model_call(
    model: ModelServer, message: str, body: dict[str, Any], settings: dict[str, Any]
) -> None:
    async with live(model, **settings) as engine:
        frames = await engine.execute(message, **body)
        assert (await engine.http.get("/tasks/t1/plan")).json() == {"plan": None}
    assert len(model.calls) == 1
    assert events(frames, "plan_update") == []


async def test_the_planner_may_be_another_model(model: ModelServer) -> None:
    async with live(model, planner_model="thinker") as engine:
        await engine.execute(WORK)
    assert [call.body["model"] for call in planning(model)] == ["thinker"]
    assert "thinker" not in [call.body["model"] for call in steps(model)]


async def test_the_workers_plan_where_there_are_some(model: ModelServer) -> None:
    async with ModelServer([Rule(drafted("s1", "s2"))]) as worker:
        settings = {"llm_pool_worker": f"{worker.url}/v1|small", "task_titles": False}
        async with live(model, **settings) as engine:
            frames = await engine.execute(WORK)
        assert len(worker.calls) == 1
    assert planning(model) == []
    assert len(events(frames, "plan_update")) == 1


@pytest.mark.parametrize(
    "bad",
    [
        Reply([Text('{"goal": "A report", "steps": [{"id": "s1", "text": "do')], stop_reason="max_tokens"),
        Reply([Text("First I would look around.")]),
        drafted("s1", "s2", depends_on=["ghost"]),
        drafted("s1", "s2", depends_on=["s2"]),
    ],
    ids=["cut-off", "prose", "unknown-id", "cycle"],
)
async def test_a_plan_that_cannot_be_taken_is_asked_for_once_more(model: ModelServer, bad: Reply) -> None:
    model.script([Rule(bad, system=PLANNER, times=1), Rule(drafted("s1", "s2"), system=PLANNER), Rule(DONE)])
    async with live(model) as engine:
        frames = await engine.execute(WORK)
    assert len(planning(model)) == 2
    assert "cannot be taken" in said(planning(model)[1])
    assert len(events(frames, "plan_update")) == 1


async def test_after_two_bad_plans_the_work_begins_without(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("no plan")]), system=PLANNER), Rule(DONE)])
    async with live(model) as engine:
        frames = await engine.execute(WORK)
    assert len(planning(model)) == 2
    assert events(frames, "plan_update") == []
    assert (text_of(frames), last(frames)["phase"]) == ("All done.", "completed")


@pytest.mark.parametrize("broken", [Failure(400), Failure(401), drafted(), drafted("only")], ids=str)
async def test_without_a_planner_or_a_plan_the_turn_goes_on(model: ModelServer, broken: Any) -> None:
    model.script([Rule(broken, system=PLANNER), Rule(DONE)])
    async with live(model) as engine:
        frames = await engine.execute(WORK)
    assert len(planning(model)) == 1
    assert events(frames, "plan_update") == []
    assert (text_of(frames), last(frames)["phase"]) == ("All done.", "completed")


async def test_no_money_for_a_plan_is_no_reason_to_ask_anybody(model: ModelServer) -> None:
    """The planner's call may cost more than is left; the step, which may cost less, is still paid for."""
    async with live(model, llm_model="gpt-4o", max_tokens=100, budget_task_usd=0.05) as engine:
        frames = await engine.execute(WORK)
    assert planning(model) == []
    assert (text_of(frames), last(frames)["phase"]) == ("All done.", "completed")


async def test_a_cancel_reaches_the_planner(model: ModelServer) -> None:
    model.script([Rule(Reply([Stall()]), system=PLANNER), Rule(DONE)])
    async with live(model) as engine, engine.executing(WORK) as stream:
        await stream.until("user_message")
        await model.wait_calls(1)
        await engine.http.post("/execute/cancel", json={"task_id": "t1"})
        assert last(await stream.rest())["phase"] == "cancelled"


async def test_after_a_restart_the_plan_is_there_and_not_made_again(model: ModelServer, tmp_path: Path) -> None:
    ask = ToolCall("ask_user", {"question": "Which log?"})
    model.script([Rule(drafted("s1", "s2"), system=PLANNER), Rule(Reply([ask]), round=0), Rule(DONE)])
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as engine, engine.executing(WORK) as stream:
        await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, sqlite_db_path=brain) as engine:
        await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "both"})
        await engine.replay(task_id="t1")
    assert len(planning(model)) == 1
    first, second = (call.body["messages"] for call in steps(model))
    assert second[: len(first)] == first


async def test_what_keeps_failing_is_planned_anew_with_the_failures(model: ModelServer) -> None:
    again = drafted("s2", "s4")
    replying(model, *map(failing, range(FAILURES)), planner=(drafted("s1", "s2", "s3"), again), end=SORRY)
    async with live(model) as engine:
        frames = await engine.execute(WORK)
    first, second = planning(model)
    assert "missing-0.txt" not in said(first)
    assert REVISE in second.text
    assert "missing-0.txt" in second.text
    assert "<untrusted-" in second.text
    made, revised = events(frames, "plan_update")
    assert (made.get("revision", 1), revised["revision"]) == (1, 2)
    assert "3 tool calls failed" in revised["reason"]
    assert {step["id"]: step.get("status", "pending") for step in revised["steps"]} == {
        "s1": "skipped",
        "s2": "pending",
        "s3": "skipped",
        "s4": "pending",
    }
    bodies = [call.body["messages"] for call in steps(model)][: FAILURES + 1]
    assert [json.dumps(body).count("<plan revision") for body in bodies] == [1] * FAILURES + [2]
    assert bodies[-1][: len(bodies[-2])] == bodies[-2]


async def test_the_plan_is_revised_a_few_times_and_never_more(model: ModelServer) -> None:
    def work(number: int) -> Reply:
        change = ToolCall("write_file", {"path": f"f{number}.txt", "content": "x"})
        return failing(number) if number % 5 else Reply([change])

    plans = [drafted(f"a{number}", f"b{number}") for number in range(9)]
    replying(model, *map(work, range(60)), planner=plans, end=SORRY)
    async with live(model, max_turns=60) as engine:
        frames = await engine.execute(WORK)
    revisions = [event.get("revision", 1) for event in events(frames, "plan_update")]
    assert revisions == list(range(1, MOST_REVISIONS + 2))
    assert len(planning(model)) == 1 + MOST_REVISIONS


async def test_a_plan_stays_when_the_planner_knows_no_better(model: ModelServer) -> None:
    replying(model, *map(failing, range(FAILURES)), planner=(drafted("s1", "s2"), Failure(400)), end=SORRY)
    async with live(model) as engine:
        frames = await engine.execute(WORK)
    made, kept = events(frames, "plan_update")
    assert kept["steps"] == made["steps"]
    assert "stays" in kept["reason"]
    assert len(planning(model)) == 2
    assert last(frames)["phase"] == "completed"


async def test_the_model_is_reminded_of_a_plan_it_forgets(model: ModelServer) -> None:
    looks = [Reply([ToolCall("glob", {"pattern": f"*{number}"})]) for number in range(4)]
    replying(model, *looks)
    async with live(model) as engine:
        await engine.execute(WORK)
    assert [said(call).count("Your plan has not changed") for call in steps(model)] == [0, 0, 0, 0, 1]


async def test_a_plan_allows_nothing(model: ModelServer) -> None:
    replying(model, Reply([ToolCall("bash", {"command": "chmod -R 700 ."})]))
    async with live(model, sandbox="auto") as engine, engine.executing(WORK) as stream:
        request = (await stream.until("hitl_request")).data
        assert request["kind"] == "permission"
        await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": "no"})
        await stream.rest()
