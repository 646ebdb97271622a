"""Teams from their beginning to their end: who is offered what, what is too much, who may see it, and what is left."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import Hold, ModelServer, Reply, Text
from tests.live import live
from tests.work.places import Place
from tests.work.teams.drills import Drill, calls, drill, says

TEAM = {"spawn_team", "team_message", "team_list"}


async def quiet(own: Drill, team_id: str) -> dict[str, Any]:
    """Wait until nobody works; the team then."""
    async with asyncio.timeout(10):
        while True:
            sheet = await own.get(f"/teams/{team_id}")
            lead = await own.get(f"/tasks/{sheet['lead_task_id']}")
            if lead["status"] == "idle" and not any(one["status"] == "working" for one in sheet["members"]):
                return sheet
            await asyncio.sleep(0.02)


def offered(model: ModelServer) -> list[str]:
    return [tool["function"]["name"] for tool in model.calls[-1].body["tools"]]


async def test_whoever_has_no_work_is_told_nothing_of_teams(place: Place) -> None:
    async with drill(**place.settings) as own:
        await own.say("hi", "t1")
        before = offered(own.model)
        assert not TEAM & set(before)
        await own.item()
        await own.say("hi", "t1")
        assert TEAM & set(offered(own.model)) == {"spawn_team"}
        assert offered(own.model)[: len(before)] == before
        await own.say("hi", "t2", unattended=True)
        assert not TEAM & set(offered(own.model))


@pytest.mark.parametrize(("setting", "found"), [("on", {"spawn_team"}), ("off", set[str]())])
async def test_the_operator_says_whose_models_may_propose_teams(setting: str, found: set[str]) -> None:
    async with drill(team_tools=setting) as own:
        await own.say("hi", "t1")
        assert TEAM & set(offered(own.model)) == found


async def test_a_member_stops_going_on_by_itself_after_so_many_turns_without_a_person(place: Place) -> None:
    async with drill(**place.settings, team_turns=2) as own:
        team = await own.team({"name": "Ada"})
        team_id = team["team_id"]
        await own.until(team_id, "Ada", "idle")
        own.plays["Ada"] = [
            lambda call: calls(("task_complete", {"id": call.text.split("]")[0].rpartition(" ")[2]}))
            for _ in range(1)
        ]
        items = [await own.item(f"chore {at}", board=team["board"]) for at in range(2)]
        async with asyncio.timeout(10):
            while (await own.get(f"/work/items/{items[0]}"))["status"] != "completed":
                await asyncio.sleep(0.02)
        sheet = await quiet(own, team_id)
        assert sheet["members"][0]["turns"] == 2
        assert (await own.get(f"/work/items/{items[1]}"))["owner"] is None
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="Go on.")
        async with asyncio.timeout(10):
            while (await own.get(f"/work/items/{items[1]}"))["owner"] is None:
                await asyncio.sleep(0.02)


async def test_mail_wakes_a_lead_so_often_and_then_it_waits_for_a_person(place: Place) -> None:
    async with drill(**place.settings, team_wakes=1) as own:
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        async with asyncio.timeout(10):
            while not own.heard["lead"]:
                await asyncio.sleep(0.02)
        await quiet(own, team_id)
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="Again.")
        async with asyncio.timeout(10):
            while len(await own.mail(team_id, "result")) < 2:
                await asyncio.sleep(0.02)
        sheet = await quiet(own, team_id)
        assert (len(own.heard["lead"]), sheet["unread"]) == (1, 2)
        await own.say("And now?", sheet["lead_task_id"])
        assert "From Ada, result (message 3)" in own.heard["lead"][1].text
        assert (await own.get(f"/teams/{team_id}"))["unread"] == 0


async def test_members_spend_no_more_than_their_team_may(place: Place) -> None:
    async with drill(**place.settings) as own:
        team_id = (await own.team({"name": "Ada"}, budget_usd=0.000001))["team_id"]
        await own.until(team_id, "Ada", "idle")
        async with asyncio.timeout(10):
            while not own.heard["Ada"]:
                await asyncio.sleep(0.02)
        sheet = await quiet(own, team_id)
        assert sheet["cost_usd"] > sheet["budget_usd"]
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="More.")
        await quiet(own, team_id)
        assert len(own.heard["Ada"]) == 1


async def test_too_much_mail_is_refused(place: Place) -> None:
    async with drill(**place.settings, team_mail_per_minute=3, team_mail_unread=2) as own:
        own.plays["Ada"] = [Reply([Hold("ada"), Text("Done.")])]
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        await own.model.wait_held("ada", timeout=10)
        path = f"/teams/{team_id}/mail"
        status, body = await own.post(path, to="Ada", content="x" * 20_001)
        assert (status, body["error"]) == (422, "INVALID_REQUEST")
        assert (await own.post(path, to="Ada", content=" "))[0] == 422
        assert (await own.post(path, to="Ada", content="one"))[0] == 201
        status, body = await own.post(path, to="Ada", content="two")
        assert (status, body["details"]["reason"]) == (409, "inbox_full")
        own.model.release("ada")
        async with asyncio.timeout(10):
            while (await own.member(team_id, "Ada"))["unread"]:
                await asyncio.sleep(0.02)
        assert (await own.post(path, to="Ada", content="three"))[0] == 201
        async with asyncio.timeout(10):
            while (await own.member(team_id, "Ada"))["unread"]:
                await asyncio.sleep(0.02)
        status, body = await own.post(path, to="Ada", content="four")
        assert (status, body["details"]["reason"]) == (409, "too_fast")


async def test_a_team_that_is_stopped_lets_go_of_everything(place: Place) -> None:
    async with drill(**place.settings) as own:
        item = await own.item()
        own.plays["Ada"] = [Reply([Hold("ada"), Text("Done.")])]
        team = await own.team({"name": "Ada", "item_id": item}, {"name": "Bob"})
        team_id = team["team_id"]
        await own.model.wait_held("ada", timeout=10)
        status, sheet = await own.post(f"/teams/{team_id}/stop")
        assert (status, sheet["status"], {one["status"] for one in sheet["members"]}) == (
            200,
            "stopped",
            {"stopped"},
        )
        assert (await own.get(f"/work/items/{item}"))["ready"]
        assert (await own.get(f"/tasks/{team['members'][0]['task_id']}"))["status"] == "idle"
        for path, body in (
            ("mail", {"to": "Bob", "content": "x"}),
            ("members", {"members": [{"name": "C", "prompt": "x"}]}),
        ):
            status, answer = await own.post(f"/teams/{team_id}/{path}", **body)
            assert (status, answer["details"]["reason"]) == (409, "stopped")
        assert (await own.post(f"/teams/{team_id}/stop"))[0] == 200
        assert (await own.get("/teams?status=active"))["teams"] == []
        again = await own.team({"name": "Ada"}, task_id=team["lead_task_id"])
        assert again["team_id"] != team_id


async def test_a_task_leads_one_team_at_a_time_and_takes_its_members_along(place: Place) -> None:
    async with drill(**place.settings) as own:
        team = await own.team({"name": "Ada"}, task_id="t1")
        status, body = await own.post("/teams", task_id="t1", members=[{"name": "Bob", "prompt": "x"}])
        assert (status, body["details"]["reason"]) == (409, "already_leads")
        async with asyncio.timeout(10):
            while not own.heard["lead"]:
                await asyncio.sleep(0.02)
        sheet = await quiet(own, team["team_id"])
        member = sheet["members"][0]["task_id"]
        status, body = await own.post("/teams", task_id=member, members=[{"name": "Bob", "prompt": "x"}])
        assert (status, body["error"]) == (403, "PERMISSION_DENIED")
        assert (await own.http.delete("/tasks/t1")).is_success
        assert (await own.http.get(f"/teams/{team['team_id']}")).status_code == 404
        assert (await own.http.get(f"/tasks/{member}")).status_code == 404


async def test_what_a_member_asks_reaches_the_person_and_the_answer_reaches_the_member(place: Place) -> None:
    async with drill(**place.settings) as own:
        own.plays["Ada"] = [calls(("ask_user", {"question": "Deep?"})), says("Deep it is.")]
        team = await own.team({"name": "Ada"})
        async with asyncio.timeout(10):
            while not (pending := (await own.get("/hitl/pending"))["pending"]):
                await asyncio.sleep(0.02)
        shown = await own.events(team["lead_task_id"], "hitl_request")
        assert [one["question"] for one in shown] == ["The sub-agent Ada asks: Deep?"]
        await own.post("/hitl/respond", request_id=pending[0]["request_id"], answer="yes")
        async with asyncio.timeout(10):
            while not await own.mail(team["team_id"], "result"):
                await asyncio.sleep(0.02)
        assert (await own.mail(team["team_id"], "result"))[0]["content"] == "Deep it is."
        assert [one["answer"] for one in await own.events(team["lead_task_id"], "hitl_resolved")] == ["yes"]


async def test_users_have_teams_of_their_own(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    eve = {"X-Engine-Key": keys.create(brain, "eve", "eve").key}
    async with ModelServer() as model, live(model, sqlite_db_path=brain, engine_api_key="the-key") as engine:
        own = Drill(engine.http, model)
        team_id = (await own.team({"name": "Ada"}))["team_id"]
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/mail", None),
            ("POST", "/mail", {"to": "Ada", "content": "x"}),
            ("POST", "/members", {"members": [{"name": "Bob", "prompt": "x"}]}),
            ("POST", "/stop", None),
            ("POST", "/members/Ada/stop", None),
        ):
            answer = await engine.http.request(method, f"/teams/{team_id}{path}", json=body, headers=eve)
            assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND"), path
        assert (await engine.http.get("/teams", headers=eve)).json()["teams"] == []
        assert (await own.get(f"/teams/{team_id}"))["status"] == "active"
        await quiet(own, team_id)
