"""What the engine itself adds to a turn is there again in its replay: plans, notes of directories, notices, verdicts,
compactions. The prompts are the same, and nobody is asked for any of it twice."""

import json
import re
from pathlib import Path
from typing import Any

from aster.testing import Hold, ModelServer, RecordedCall, Reply, Rule, Text, ToolCall
from tests.engine_core.compaction.talk import says
from tests.engine_core.compaction.test_orchestrator import answering, chat, chatting, small
from tests.engine_core.frames import events
from tests.engine_core.planning.test_planner import (
    FAILURES,
    SORRY,
    WORK,
    drafted,
    failing,
    planning,
    replying,
    steps,
)
from tests.engine_core.replaying.stage import replayed, thread
from tests.engine_core.verifying.test_verifier import CLAIM, COUNT, WRONG, pool
from tests.engine_core.verifying.test_verifier import says as opinion
from tests.live import Live, live

REPAIRED = Reply([Text("One partition has 987 rows; there may be others.")])


def bodies(calls: list[RecordedCall]) -> list[Any]:
    """The prompts, with the calls in them numbered: a server gives each an id of its own."""
    return [_numbered(json.dumps(call.body["messages"])) for call in calls]


def _numbered(prompt: str) -> str:
    for number, name in enumerate(dict.fromkeys(re.findall(r'"tool_call_id": "([^"]+)"', prompt))):
        prompt = prompt.replace(name, f"call {number}")
    return prompt


async def test_plans_are_taken_as_they_were(model: ModelServer) -> None:
    work = [*map(failing, range(FAILURES))]
    replying(model, *work, planner=(drafted("s1", "s2", "s3"), drafted("s2", "s4")), end=SORRY)
    async with live(model) as engine:
        await engine.execute(WORK)
        asked, planned = bodies(steps(model)), len(planning(model))
        assert planned == 2
        replying(model, *work, end=SORRY)
        report = await replayed(engine)
        assert (report["same"], len(planning(model))) == (True, planned)
        assert bodies(steps(model))[len(asked) :] == asked


async def test_notes_of_directories_are_told_as_they_were(model: ModelServer, tmp_path: Path) -> None:
    place = tmp_path / "root" / "sub"
    place.mkdir(parents=True)
    (place / "AGENTS.md").write_text("Herons are counted twice here.")
    (place / "a.txt").write_text("alpha")
    read = Reply([ToolCall("read_file", {"path": "sub/a.txt"})])
    async with live(model, allowed_roots=str(tmp_path / "root")) as engine:
        model.enqueue(read, Reply([Text("alpha")]))
        await engine.execute("What does it say?")
        assert "counted twice" in str(model.calls[-1].body)
        (place / "AGENTS.md").write_text("Herons are not counted any more.")
        model.enqueue(read, Reply([Text("alpha")]))
        report = await replayed(engine)
        assert (report["same"], bodies(model.calls[2:])) == (True, bodies(model.calls[:2]))


async def test_what_ended_in_the_background_is_told_where_it_was(aster: Live, model: ModelServer) -> None:
    begin = Reply([ToolCall("bash", {"command": "echo up", "run_in_background": True}, id="b")])
    look = ToolCall("glob", {"pattern": "*"}, id="g")
    model.enqueue(begin, Reply([Text("I wait."), Hold("wait"), look]), Reply([Text("It is up.")]))
    async with aster.executing("go") as stream:
        await model.wait_held("wait")
        await stream.until("background_task", status="completed")
        model.release("wait")
        await stream.rest()
    asked = bodies(model.calls)
    assert "has ended: completed" in str(asked[2])
    model.enqueue(begin, Reply([Text("I wait."), look]), Reply([Text("It is up.")]))
    report = await replayed(aster)
    assert (report["same"], bodies(model.calls[3:])) == (True, asked)
    kinds = {one["type"] for one in await thread(aster, report["replay_task_id"])}
    assert "background_task" not in kinds


async def test_a_critics_verdict_is_taken_as_it_was_for_the_same_answer(model: ModelServer) -> None:
    async with ModelServer([Rule(opinion("confirm"))]) as critic:
        critic.enqueue(WRONG)
        async with live(model, **pool(critic)) as engine:
            model.enqueue(COUNT, CLAIM, REPAIRED)
            frames = await engine.execute("How many rows?")
            assert [one["verdict"] for one in events(frames, "verification")] == ["refute", "confirm"]
            model.enqueue(COUNT, CLAIM, REPAIRED)
            report = await replayed(engine)
            assert (report["same"], len(critic.calls)) == (True, 2)
            assert bodies(model.calls[3:]) == bodies(model.calls[:3])
            model.enqueue(COUNT, Reply([Text("There are 987 rows in the first partition that was counted.")]))
            other = await replayed(engine)
            assert (other["same"], len(critic.calls)) == (False, 3)


async def test_it_goes_on_behind_a_compaction() -> None:
    def work(call: RecordedCall) -> Reply:
        if "Work." not in call.text:
            return chatting(call)
        if call.round == 0:
            return Reply([Text("I look"), Hold("looking"), ToolCall("glob", {"pattern": "*"})])
        return says("done")

    async with small(answering(work)) as (aster, model):
        await chat(aster, 6)
        async with aster.executing("Work.") as stream:
            await model.wait_held("looking")
            assert (await aster.http.post("/tasks/t1/compact", json={})).status_code == 202
            model.release("looking")
            await stream.rest()
        asked, count = model.calls[-1].body["messages"], len(model.calls)
        head = (await aster.http.get("/tasks/t1")).json()["head_seq"]
        report = await replayed(aster, from_seq=head)
        assert (report["same"], report["from_step"], len(model.calls)) == (True, 2, count + 1)
        assert model.calls[-1].body["messages"] == asked
        assert (await replayed(aster))["same"]


async def test_the_turn_of_a_sub_agent_can_be_replayed(aster: Live, model: ModelServer) -> None:
    spawn = ToolCall("spawn_agent", {"prompt": "work on it"}, id="s")
    look = ToolCall("glob", {"pattern": "*"}, id="g")
    model.script(
        [
            Rule(Reply([spawn]), match="^go", round=0),
            Rule(Reply([Text("It is done.")]), match="^go"),
            Rule(Reply([look]), match="^work", round=0),
            Rule(Reply([Text("Worked.")]), match="^work"),
        ]
    )
    await aster.execute("go")
    [child] = (await aster.http.get("/tasks", params={"parent": "t1"})).json()["tasks"]
    asked = bodies([call for call in model.calls if call.text.startswith("work")])
    begin = len(model.calls)
    report = await replayed(aster, child["task_id"])
    assert (report["same"], bodies(model.calls[begin:])) == (True, asked)
    assert (await replayed(aster))["same"]
    assert len((await aster.http.get("/tasks", params={"parent": "t1"})).json()["tasks"]) == 2
