"""Projects through HTTP, each promise on a file and on PostgreSQL: cases 116 of the list that projects come from."""

import asyncio
import json
from typing import Any

import pytest

from aster.testing import Failure, Hold, Reply, Text, ToolCall
from tests.live import Live
from tests.work.places import Place
from tests.work.projects.room import Room, room, until


async def test_116_an_item_is_worked_on_in_a_turn_and_its_result_is_kept(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers["Dig"] = ["The hole is two metres deep."]
        items = ({"subject": "Dig", "name": "d"}, {"subject": "Fill", "blocked_by": ["d"]})
        project = await projects.make("Bridge", *items)
        begun = await projects.advance(project)
        assert begun["status"] == "due"
        now = await projects.settled(project)
        assert (now["status"], now["tasks"]) == ("ACTIVE", [begun["task_id"]])
        assert now["items"] == {"pending": 1, "in_progress": 0, "completed": 1, "ready": 1}
        (done,) = (await projects.get(project, "advances"))["advances"]
        assert (done["status"], done["item_id"]) == ("done", begun["item_id"])
        (kept,) = (await projects.get(project, "artifacts"))["artifacts"]
        assert (kept["kind"], kept["content"]) == ("note", "The hole is two metres deep.")
        assert kept["turn_id"] == done["turn_id"]
        item = (await projects.http.get(f"/work/items/{begun['item_id']}")).json()
        assert (item["status"], item["result"]) == ("completed", "The hole is two metres deep.")
        frames = await projects.engine.replay(task_id=done["task_id"], after_seq=0)
        told = [frame.data["action"] for frame in frames if frame.event == "project_update"]
        assert told == ["advance_started", "artifact_added", "advance_done"]
        await projects.advance(project)
        assert (await projects.settled(project))["status"] == "DONE"
        assert (await projects.refused(project))[0] == "done"
        assert "The hole is two metres deep." in projects.model.calls[-1].text


@pytest.mark.parametrize(
    ("budget", "named"),
    [({"steps": 1}, "1 of 1 steps"), ({"tool_calls": 0}, "0 of 0 tool calls"), ({"seconds": 0}, "seconds")],
)
async def test_116_a_budget_that_is_used_up_blocks_and_says_which(
    place: Place, budget: dict[str, Any], named: str
) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", "Dig", "Fill", budget=budget)
        if budget == {"steps": 1}:
            await projects.advance(project, "blocked")
            now = await projects.settled(project)
            assert (now["status"], now["going"], now["used"]["steps"]) == ("ACTIVE", False, 1)
            assert named in now["reason"]
        reason, message = await projects.refused(project)
        assert reason == "budget"
        assert named in message
        await projects.http.patch(f"/projects/{project}", json={"budget": {"steps": 9}})
        await projects.advance(project)
        await projects.settled(project)
        assert "completed" in (await projects.states(project)).values()


async def test_116_a_turn_that_runs_out_of_tool_calls_or_time_completes_nothing(place: Place) -> None:
    async with room(**place.settings) as projects:
        look = Reply([ToolCall("todo_write", {"todos": [{"content": "x", "status": "pending"}]})])
        projects.answers["Dig"] = [look]
        project = await projects.make("Bridge", "Dig", budget={"tool_calls": 2})
        await projects.advance(project)
        now = await projects.settled(project)
        assert (now["status"], now["used"]["tool_calls"]) == ("NEEDS_USER", 2)
        assert "used up" in now["reason"]
        assert await projects.states(project) == {"Dig": "pending"}
        projects.answers["Wait"] = [Reply([Hold("slow"), Text("late")])]
        slow = await projects.make("Slow", "Wait", budget={"seconds": 1})
        await projects.advance(slow)
        now = await projects.settled(slow)
        assert (now["status"], await projects.states(slow)) == ("NEEDS_USER", {"Wait": "pending"})
        assert (await projects.get(slow, "artifacts"))["artifacts"] == []
        assert (await projects.refused(slow))[0] == "needs_user"
        assert (await projects.post(slow, "resume"))[1]["status"] == "ACTIVE"
        assert (await projects.refused(slow))[0] == "budget"


async def test_116_a_human_gate_waits_in_the_inbox_and_the_answer_goes_on(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers["Paint"] = ["I looked at it.\nHUMAN_GATE: Which colour?", "It is green."]
        project = await projects.make("Bridge", "Paint", "Dry")
        begun = await projects.advance(project, "blocked")
        now = await projects.settled(project)
        assert (now["status"], now["question"]["question"]) == ("NEEDS_USER", "Which colour?")
        assert (await projects.states(project))["Paint"] == "in_progress"
        assert (await projects.get(project, "artifacts"))["artifacts"] == []
        (waiting,) = (await projects.http.get("/hitl/pending")).json()["pending"]
        assert (waiting["task_id"], waiting["question"]) == (begun["task_id"], "Which colour?")
        assert (await projects.refused(project))[0] == "needs_user"
        assert (await projects.refused(project, "resume"))[0] == "needs_user"
        listed = await projects.http.get("/projects", params={"status": "NEEDS_USER"})
        assert [one["project_id"] for one in listed.json()["projects"]] == [project]
        answer = {"request_id": waiting["request_id"], "answer": "green"}
        assert (await projects.http.post("/hitl/respond", json=answer)).status_code == 200
        await until(lambda: _done(projects, project))
        results = {one["name"]: one["content"] for one in (await projects.get(project, "artifacts"))["artifacts"]}
        assert results["Paint"] == "It is green."
        assert any("answered: green" in call.text for call in projects.model.calls)
        assert "needs_user" in await projects.kinds(project)


async def test_116_resume_with_an_answer_answers_the_gate(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers["Paint"] = ["HUMAN_GATE: Which colour?", "It is green."]
        project = await projects.make("Bridge", "Paint")
        await projects.advance(project)
        await projects.settled(project)
        assert (await projects.post(project, "resume", answer="green"))[0] == 200
        await until(lambda: _done(projects, project))
        assert (await projects.post(project, "resume", answer="green"))[1]["error"] == "HITL_NOT_PENDING"


async def test_116_a_result_that_contradicts_an_earlier_one_needs_a_person(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers |= {
            "First": ["Windows is supported."],
            "Second": ["I checked it. Windows isn't supported.", "Windows is supported after all."],
            "Third": ["macOS is not supported."],
            "Fourth": ["macOS is not supported."],
        }
        project = await projects.make("Check", "First", "Second", "Third", "Fourth")
        await projects.advance(project, "blocked")
        now = await projects.settled(project)
        asked = now["question"]
        assert (now["status"], asked["reason"], now["items"]["completed"]) == ("NEEDS_USER", "contradiction", 1)
        assert "Windows isn't supported" in asked["question"]
        assert "Windows is supported" in asked["question"]
        assert (await projects.post(project, "resume", answer=asked["options"][1]))[0] == 200
        await until(lambda: _done(projects, project))
        assert (await projects.get(project))["items"]["completed"] == 4


async def test_116_what_did_not_run_is_never_done(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers |= {"Dig": [Failure(status=400)], "Fill": [Reply([Text("")])]}
        for subject in ("Dig", "Fill"):
            project = await projects.make(subject, subject)
            await projects.advance(project, "blocked")
            now = await projects.settled(project, 30)
            assert (now["status"], now["going"], bool(now["reason"])) == ("NEEDS_USER", False, True)
            assert await projects.states(project) == {subject: "pending"}
            assert (await projects.get(project, "artifacts"))["artifacts"] == []
            (failed,) = (await projects.get(project, "advances"))["advances"]
            assert failed["status"] == "failed"


async def test_116_it_goes_on_by_itself_in_order_until_all_is_done(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", {"subject": "Roof", "priority": -1}, {"subject": "Walls"})
        listed = (await projects.get(project, "items"))["items"]
        roof = next(one["item_id"] for one in listed if one["subject"] == "Roof")
        await projects.add(project, "Left half", "Right half", parent_id=roof)
        tree = [(one["subject"], one["depth"]) for one in (await projects.get(project, "items"))["items"]]
        assert tree == [("Walls", 0), ("Roof", 0), ("Left half", 1), ("Right half", 1)]
        await projects.advance(project, "blocked")
        assert (await projects.refused(project))[0] == "busy"
        now = await projects.settled(project)
        assert (now["status"], now["used"]["steps"]) == ("DONE", 4)
        names = [one["name"] for one in (await projects.get(project, "artifacts"))["artifacts"]]
        assert names[::-1] == ["Walls", "Left half", "Right half", "Roof"]
        assert "Left half: it is so." in projects.model.calls[-1].text


async def test_116_one_that_waits_for_somebody_stops_and_says_so(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", "Dig", {"subject": "Inspect", "role": "inspector"})
        await projects.advance(project, "blocked")
        now = await projects.settled(project)
        assert (now["status"], now["going"]) == ("ACTIVE", False)
        assert "1 items are open" in now["reason"]
        assert (await projects.refused(project))[0] == "nothing_ready"
        assert (await projects.kinds(project))[-1] == "blocked"


async def test_116_pausing_now_stops_the_turn_and_gives_the_item_back(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers["Dig"] = [Reply([Hold("dig"), Text("never")]), "Done."]
        project = await projects.make("Bridge", "Dig", "Fill")
        await projects.advance(project, "blocked")
        await until(lambda: _called(projects))
        status, now = await projects.post(project, "pause", now=True)
        assert (status, now["status"], now["advance"], now["going"]) == (200, "PAUSED", None, False)
        assert await projects.states(project) == {"Dig": "pending", "Fill": "pending"}
        assert (await projects.refused(project))[0] == "paused"
        assert (await projects.post(project, "resume"))[1]["status"] == "ACTIVE"
        await projects.advance(project, "blocked")
        assert (await projects.settled(project))["status"] == "DONE"


async def test_116_many_who_advance_at_once_begin_one_turn(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", "Dig", "Fill")
        got = await asyncio.gather(*(projects.post(project, "advance") for _ in range(10)))
        assert sorted(status for status, _ in got) == [202] + [409] * 9
        assert {answer["details"]["reason"] for status, answer in got if status == 409} == {"busy"}
        await projects.settled(project)
        assert len((await projects.get(project, "advances"))["advances"]) == 1


async def test_116_a_project_is_suggested_once_and_never_made(place: Place) -> None:
    async with room(**place.settings) as projects:
        plan = {"goal": "g", "steps": [{"id": f"s{at}", "text": f"step {at}"} for at in range(3)]}
        engine: Live = projects.engine
        said = [await engine.execute(_calling("update_plan", plan), "long")]
        said += [await engine.execute("[[text=1]] Go on.", "long") for _ in range(9)]
        suggested = [
            [frame.data["action"] for frame in frames if frame.event == "project_update"] for frames in said
        ]
        assert suggested == [[]] * 7 + [["suggested"]] + [[]] * 2
        assert (await projects.http.get("/projects")).json()["projects"] == []
        for at in range(9):
            assert not [f for f in await engine.execute("[[text=1]] Hi.", "chat") if f.event == "project_update"], (
                at
            )


async def _done(projects: Room, project: str) -> bool:
    return (await projects.get(project))["status"] == "DONE"


async def _called(projects: Room) -> bool:
    return bool(projects.model.calls)


def _calling(tool: str, given: dict[str, Any]) -> str:
    return f"[[text=3 tools=1 tool={tool} input={json.dumps(given)}]] Do it."
