"""Rows Q1 to Q4: requests in a team are answered once by whom they are for, members stop when they are asked to, and
nothing is changed before a plan is approved for the very work it was made for; on a file and on PostgreSQL."""

import asyncio
import re
from typing import Any

import pytest

from aster.brain.opening import brain_of
from aster.brain.team_requests import AskShutdown
from aster.infra.settings import Settings
from aster.testing import Hold, Reply, Text, ToolCall
from aster.testing.calls import RecordedCall
from tests.work.places import Place
from tests.work.teams.drills import Drill, Play, calls, drill, says

PLAN = ("submit_plan", {"plan": "1. Write a.txt. 2. Read it again."})
WRITE = ("write_file", {"path": "a.txt", "content": "deep"})
READ = ("glob", {"pattern": "*"})
SHELL = ("bash", {"command": "echo hi > b.txt"})


async def waiting(own: Drill, **body: Any) -> tuple[str, str, str]:
    """A team whose member Ada has handed in a plan for its item and rests: the team, the item, the request."""
    item = await own.item()
    own.plays["Ada"][:0] = [calls(PLAN), says("I wait.")]
    team = await own.team({"name": "Ada", "item_id": item, "require_plan": True}, **body)
    plan = await own.until_plan(team["team_id"], "Ada", "pending")
    return team["team_id"], item, plan["request_id"]


async def test_q1_an_answer_counts_once_from_whom_it_is_for_and_as_what_it_is(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, _, request_id = await waiting(own)
        other = await own.team({"name": "Bob"})
        before = await own.get(f"/teams/{team_id}/requests/{request_id}")
        for wrong, reason in (
            ({"type": "shutdown_response"}, "wrong_type"),
            ({"member": "Bob"}, "wrong_recipient"),
        ):
            status, body = await own.answer(team_id, request_id, approve=True, **wrong)
            assert (status, body["error"], body["details"]["reason"]) == (409, "TEAM_CONFLICT", reason)
        for team, request in ((team_id, "req-nothing"), (other["team_id"], request_id)):
            status, body = await own.answer(team, request, approve=True)
            assert (status, body["details"]["reason"]) == (404, "unknown_request")
        assert await own.get(f"/teams/{team_id}/requests/{request_id}") == before
        plan = await own.plan(team_id, "Ada")
        assert plan is not None
        assert plan["status"] == "pending"
        assert (await own.answer(team_id, request_id, approve=True, member="Ada"))[0] == 200
        status, body = await own.answer(team_id, request_id, approve=False)
        assert (status, body["details"]["reason"]) == (409, "already_settled")
        after = await own.get(f"/teams/{team_id}/requests/{request_id}")
        assert (after["status"], after["answered_by"], after["sender"], after["target"]) == (
            "approved",
            "person",
            "Ada",
            "person",
        )


async def test_q1_of_many_answers_at_once_one_counts(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, _, request_id = await waiting(own)
        answers = [own.answer(team_id, request_id, approve=at % 2 == 0, feedback=str(at)) for at in range(8)]
        done = [body for status, body in await asyncio.gather(*answers) if status == 200]
        assert len(done) == 1
        after = await own.get(f"/teams/{team_id}/requests/{request_id}")
        assert (after["status"], after["feedback"]) == (done[0]["status"], done[0]["feedback"])
        assert len(await own.mail(team_id, "plan_approval_response")) == 1


def review(*answers: dict[str, Any], hold: str = "") -> Play:
    """The lead answers the plan that its mail names, after a while."""

    def play(call: RecordedCall) -> Reply:
        (request_id,) = set(re.findall(r"A plan, (req-[^;]+);", call.text))
        made = [{"request_id": request_id, "member": "Ada", **answer} for answer in answers]
        blocks = [ToolCall("review_plan", given, id=f"r{at}") for at, given in enumerate(made)]
        return Reply([Text("Let me see."), *([Hold(hold)] if hold else []), *blocks])

    return play


async def led(own: Drill) -> None:
    """A task that can lead."""
    own.plays["lead"] = [says("I lead.")]
    await own.say("hello", "t1")


async def test_q1_where_the_lead_reviews_plans_a_person_does_not_and_the_lead_does(place: Place) -> None:
    async with drill(**place.settings, team_plan_reviewer="lead") as own:
        await led(own)
        wrong, no = {"member": "Bob", "approve": True}, {"approve": False, "feedback": "Tests first."}
        own.plays["lead"] = [review(wrong, no, no, hold="lead")]
        team_id, _, request_id = await waiting(own, task_id="t1")
        await own.model.wait_held("lead", timeout=20)
        status, body = await own.answer(team_id, request_id, approve=True)
        assert (status, body["details"]["reason"]) == (409, "wrong_responder")
        own.model.release("lead")
        rejected = await own.until_plan(team_id, "Ada", "rejected")
        assert rejected["feedback"] == "Tests first."
        first, second, third = await own.until_results("t1", 3)
        assert first["data"]["reason"] == "wrong_recipient"
        assert second["data"]["status"] == "rejected"
        assert third["data"]["reason"] == "already_settled"
        (mail,) = await own.mail(team_id, "plan_approval_response")
        assert (mail["sender"], mail["recipient"], mail["metadata"]["approve"]) == ("lead", "Ada", False)
        assert "Tests first." in mail["content"]


async def test_q2_a_member_in_the_middle_of_its_rounds_finishes_its_step_and_is_gone(place: Place) -> None:
    async with drill(**place.settings) as own:
        item = await own.item()
        own.plays["Ada"] = [Reply([Hold("step"), ToolCall(*WRITE, id="w")]), says("Never said.")]
        team = await own.team({"name": "Ada", "item_id": item})
        team_id = team["team_id"]
        await own.model.wait_held("step", timeout=20)
        status, asked = await own.post(f"/teams/{team_id}/members/Ada/shutdown", reason="Enough.")
        assert (status, asked["status"], asked["sender"], asked["target"]) == (200, "pending", "person", "Ada")
        assert (await own.member(team_id, "Ada"))["status"] == "stopping"
        own.model.release("step")
        gone = await own.until(team_id, "Ada", "stopped")
        (written,) = await own.results(gone["task_id"])
        assert (written["tool"], written.get("error")) == ("write_file", None)
        assert len(own.heard["Ada"]) == 1
        after = await own.get(f"/teams/{team_id}/requests/{asked['request_id']}")
        assert (after["status"], after["answered_by"]) == ("approved", "Ada")
        assert {one["recipient"] for one in await own.mail(team_id, "shutdown_response")} == {"person", "lead"}
        free = await own.get(f"/work/items/{item}")
        assert (free["status"], free["owner"]) == ("pending", None)
        assert await own.mail(team_id, "result") == []
        refused = await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        assert (refused[0], refused[1]["details"]["reason"]) == (409, "stopped")


async def test_q2_a_member_at_rest_is_gone_at_once_and_nothing_wakes_it(place: Place) -> None:
    async with drill(**place.settings) as own:
        item = await own.item()
        team = await own.team({"name": "Ada", "item_id": item})
        team_id = team["team_id"]
        await own.until(team_id, "Ada", "idle")
        said = len(own.heard["Ada"])
        _, asked = await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        assert asked["status"] == "approved"
        assert (await own.member(team_id, "Ada"))["status"] == "stopped"
        assert (await own.get(f"/work/items/{item}"))["owner"] is None
        status, body = await own.post(f"/teams/{team_id}/mail", to="Ada", content="Hello?")
        assert (status, body["details"]["reason"]) == (409, "stopped")
        assert len(own.heard["Ada"]) == said


async def test_q2_a_member_that_waits_for_a_person_need_not_wait_to_stop(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, item, request_id = await waiting(own)
        await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        await own.until(team_id, "Ada", "stopped")
        assert (await own.get(f"/teams/{team_id}/requests/{request_id}"))["status"] == "void"
        assert (await own.get("/hitl/pending"))["pending"] == []
        assert (await own.get(f"/work/items/{item}"))["owner"] is None
        status, body = await own.answer(team_id, request_id, approve=True)
        assert (status, body["details"]["reason"]) == (409, "already_settled")


async def test_q2_a_member_that_comes_to_wait_for_a_person_after_it_was_asked_stops_too(place: Place) -> None:
    async with drill(**place.settings) as own:
        ask = ToolCall("ask_user", {"question": "Which colour?"}, id="a")
        own.plays["Ada"] = [Reply([Hold("step"), ask]), says("Never said.")]
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        await own.model.wait_held("step", timeout=20)
        await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        own.model.release("step")
        await own.until(team_id, "Ada", "stopped")
        assert (await own.get("/hitl/pending"))["pending"] == []


async def test_q2_a_member_waits_for_who_works_for_it_before_it_stops(place: Place) -> None:
    async with drill(**place.settings) as own:
        own.plays["Ada"] = [calls(("spawn_agent", {"prompt": "Look."})), says("Never said.")]
        own.plays["lead"] = [Reply([Hold("look"), Text("Seen.")])]
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        await own.model.wait_held("look", timeout=20)
        _, asked = await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        assert asked["status"] == "pending"
        own.model.release("look")
        gone = await own.until(team_id, "Ada", "stopped")
        (seen,) = await own.results(gone["task_id"])
        assert "Seen." in seen["output"]
        assert len(own.heard["Ada"]) == 1


async def test_q2_the_lead_asks_a_member_to_stop_and_is_told_when_it_has(place: Place) -> None:
    async with drill(**place.settings) as own:
        await led(own)
        team_id = (await own.team({"name": "Ada"}, task_id="t1"))["team_id"]
        await own.until(team_id, "Ada", "idle")
        own.plays["lead"] = [calls(("request_shutdown", {"member": "ada", "reason": "Done."})), says("Well.")]
        await own.say("stop her", "t1", on_busy="queue")
        await own.until(team_id, "Ada", "stopped")
        (asked,) = await own.requests(team_id, kind="shutdown")
        assert (asked["sender"], asked["target"], asked["status"]) == ("lead", "Ada", "approved")
        (answered,) = await own.mail(team_id, "shutdown_response")
        assert (answered["sender"], answered["recipient"]) == ("Ada", "lead")


async def test_q2_a_member_stops_after_a_restart(place: Place) -> None:
    async with drill(**place.settings) as own:
        item = await own.item()
        own.plays["Ada"] = [Reply([Text("Let me see."), Hold("step"), ToolCall(*READ, id="r")])]
        team_id = (await own.team({"name": "Ada", "item_id": item}))["team_id"]
        await own.model.wait_held("step", timeout=20)
        _, asked = await own.post(f"/teams/{team_id}/members/Ada/shutdown")
        assert asked["status"] == "pending"
    async with drill(**place.settings) as own:
        await own.until(team_id, "Ada", "stopped")
        assert (await own.get(f"/teams/{team_id}/requests/{asked['request_id']}"))["status"] == "approved"
        assert own.heard["Ada"] == []
        assert (await own.get(f"/work/items/{item}"))["owner"] is None


async def test_q2_a_member_stops_that_nobody_went_on_to_stop_before_a_crash(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, item, _ = await waiting(own)
        await own.until(team_id, "Ada", "waiting_approval")
    brain = brain_of(Settings.model_validate(place.settings))
    await brain.start()
    lead, *others = await brain.teams.threads("default", team_id)
    asked = AskShutdown(user_id="default", team_id=team_id, member="Ada", sender="person")
    found = await brain.team_requests.do(asked, lead, others)
    await brain.close()
    assert found is not None
    assert found.status == "pending"
    async with drill(**place.settings) as own:
        await own.until(team_id, "Ada", "stopped")
        assert (await own.get(f"/work/items/{item}"))["owner"] is None
        assert (await own.get("/hitl/pending"))["pending"] == []


async def test_q3_nothing_is_changed_while_a_plan_is_required_pending_or_rejected(place: Place) -> None:
    most = {"permission_mode": "bypass", "permission_bypass_allowed": True, "team_plan_reviewer": "lead"}
    async with drill(**place.settings, **most) as own:
        await led(own)
        item = await own.item()
        tries = (READ, WRITE, SHELL, ("task_complete", {"id": item}))
        own.plays["Ada"] = [calls(*tries), calls(PLAN), calls(*tries, PLAN), says("I wait.")]
        own.plays["lead"] = [
            review({"approve": False}, hold="no"),
            says("No."),
            review({"approve": True}),
            says("Yes."),
        ]
        team = await own.team({"name": "Ada", "item_id": item, "require_plan": True}, task_id="t1")
        team_id = team["team_id"]
        await own.model.wait_held("no", timeout=20)
        member = await own.until(team_id, "Ada", "waiting_approval")
        await own.until_results(member["task_id"], 10)
        own.plays["Ada"] = [calls(*tries), calls(PLAN), says("I wait again."), calls(*tries), says("All done.")]
        own.model.release("no")
        results = await own.until_results(member["task_id"], 19)

        required, handed_in, pending, rejected = results[:4], results[4], results[5:10], results[10:14]
        assert "Handed in" in handed_in["output"]
        for status, made in (("required", required), ("pending", pending), ("rejected", rejected)):
            read, write, shell, done = made[:4]
            assert read.get("error") is None
            for one in (write, shell):
                assert one["error"] == "plan_blocked"
                assert one["output"].startswith(f"Blocked: plan status is {status}.")
            assert (done["error"], done["data"]["reason"]) == ("WORK_CONFLICT", "plan_not_approved")
        assert pending[4]["data"]["reason"] == "already_pending"
        assert [one.get("error") for one in results[15:]] == [None] * 4

        await own.until(team_id, "Ada", "idle")
        assert (await own.get(f"/work/items/{item}"))["status"] == "completed"
        (result,) = await own.mail(team_id, "result")
        assert "All done." in result["content"]
        assert len(await own.mail(team_id, "idle_notification")) == 1


async def test_q3_a_person_reviews_in_the_inbox_and_the_member_goes_on_where_it_was(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, item, request_id = await waiting(own)
        own.plays["Ada"] = [calls(WRITE), calls(PLAN), calls(WRITE), says("Done so.")]
        await own.until(team_id, "Ada", "waiting_approval")
        (asked,) = (await own.get("/hitl/pending"))["pending"]
        assert (asked["kind"], asked["request_id"]) == ("plan_approval", request_id)
        assert "Write a.txt" in asked["question"]
        assert asked["input"]["item_id"] == item
        lead = (await own.get(f"/teams/{team_id}"))["lead_task_id"]
        (shown,) = await own.events(lead, "hitl_request")
        assert (shown["request_id"], shown["depth"]) == (request_id, 1)
        status, _ = await own.post("/hitl/respond", request_id=request_id, answer="no", feedback="Read first.")
        assert status == 200
        again = await own.until_plan(team_id, "Ada", "pending")
        assert again["request_id"] != request_id
        assert (await own.answer(team_id, again["request_id"], approve=True, feedback="Go."))[0] == 200
        member = await own.until(team_id, "Ada", "idle")
        first, blocked, second, written = await own.results(member["task_id"])
        assert "rejected. They say: Read first." in first["output"]
        assert blocked["output"].startswith("Blocked: plan status is rejected.")
        assert "approved. Go on with it. They say: Go." in second["output"]
        assert (written["tool"], written.get("error")) == ("write_file", None)
        assert len(await own.mail(team_id, "result")) == 1
        answers = [one["answer"] for one in await own.events(lead, "hitl_resolved")]
        assert answers == ["no", "yes"]
        told = [one["action"] for one in await own.events(lead, "team_update") if one.get("member") == "Ada"]
        assert told == ["joined", "working", *("waiting_approval", "working") * 2, "idle"]


async def test_q3_whoever_works_for_a_member_is_behind_the_same_gate(place: Place) -> None:
    async with drill(**place.settings) as own:
        item = await own.item()
        own.plays["Ada"] = [calls(("spawn_agent", {"prompt": "Write it."})), says("I see.")]
        own.plays["lead"] = [calls(READ, WRITE), says("It is blocked.")]
        team = await own.team({"name": "Ada", "item_id": item, "require_plan": True})
        member = await own.until(team["team_id"], "Ada", "waiting_approval")
        begun = (await own.events(member["task_id"], "subagent_lifecycle"))[0]
        read, write = await own.results(begun["child_task_id"])
        assert read.get("error") is None
        assert write["output"].startswith("Blocked: plan status is required.")


async def test_q3_the_gate_holds_after_a_restart(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, _, request_id = await waiting(own)
        await own.until(team_id, "Ada", "waiting_approval")
    async with drill(**place.settings) as own:
        own.plays["Ada"] = [calls(WRITE), says("Blocked.")]
        assert (await own.answer(team_id, request_id, approve=False))[0] == 200
        found = await own.until_results((await own.member(team_id, "Ada"))["task_id"], 2)
        assert found[1]["output"].startswith("Blocked: plan status is rejected.")


async def test_q4_an_approval_is_void_when_the_work_is_another_and_not_by_a_message(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, item, request_id = await waiting(own)
        own.plays["Ada"] = [says("Thank you.")]
        await own.answer(team_id, request_id, approve=True)
        member = await own.until(team_id, "Ada", "idle")
        own.plays["Ada"] = [calls(WRITE), says("Written.")]
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="How is it going?")
        found = await own.until_results(member["task_id"], 2)
        assert found[1].get("error") is None
        plan = await own.until_plan(team_id, "Ada", "approved")
        await own.until(team_id, "Ada", "idle")

        release = ("task_release", {"id": item, "reason": "later"})
        claim = ("task_claim", {"id": item})
        own.plays["Ada"] = [calls(release, WRITE, claim, WRITE), says("Void.")]
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="Take it anew.")
        found = await own.until_results(member["task_id"], 6)
        for blocked in (found[3], found[5]):
            assert blocked["output"].startswith("Blocked: plan status is required.")
        now = await own.until_plan(team_id, "Ada", "required")
        assert now["work_version"] == plan["work_version"] + 2
        assert (await own.get(f"/teams/{team_id}/requests/{request_id}"))["status"] == "approved"


async def test_q4_a_plan_that_waits_is_void_when_its_work_is_taken_away(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id, item, request_id = await waiting(own)
        await own.until(team_id, "Ada", "waiting_approval")
        own.plays["Ada"] = [says("Void, then.")]
        assert (await own.post(f"/work/items/{item}/release", override=True))[0] == 200
        assert (await own.get(f"/teams/{team_id}/requests/{request_id}"))["status"] == "void"
        status, body = await own.answer(team_id, request_id, approve=True)
        assert (status, body["details"]["reason"]) == (409, "already_settled")
        plan = await own.plan(team_id, "Ada")
        assert plan is not None
        assert plan["status"] == "required"
        member = await own.until(team_id, "Ada", "waiting_approval")
        found = await own.until_results(member["task_id"], 1)
        assert "void" in found[0]["output"]


async def test_q4_asking_for_a_plan_closes_the_gate_of_a_member_that_works(place: Place) -> None:
    async with drill(**place.settings) as own:
        own.plays["Ada"] = [calls(WRITE), Reply([Hold("on"), ToolCall(*SHELL, id="s")]), says("Stopped.")]
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        await own.model.wait_held("on", timeout=20)
        status, body = await own.post(f"/teams/{team_id}/members/Ada/plan", reason="It has grown.")
        assert (status, body["plans"][0]["status"]) == (200, "required")
        own.model.release("on")
        member = await own.until(team_id, "Ada", "waiting_approval")
        first, second = await own.results(member["task_id"])
        assert first.get("error") is None
        assert second["output"].startswith("Blocked: plan status is required.")
        (mail,) = await own.mail(team_id, "plan_request")
        assert "It has grown." in mail["content"]


@pytest.mark.parametrize("path", ["requests", "plans", "requests/req-1"])
async def test_what_is_not_there_is_not_found(path: str) -> None:
    async with drill() as own:
        answer = await own.http.get(f"/teams/team-none/{path}")
        assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND")
