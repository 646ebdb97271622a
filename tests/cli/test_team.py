"""`aster team`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from anyio.from_thread import start_blocking_portal

from aster.testing import ModelServer
from tests.cli.program import Done, Home
from tests.live import live
from tests.work.teams.drills import Drill, calls, says


class Crew(NamedTuple):
    """`aster team` before a team whose Ada waits with a plan, and whose Bob rests."""

    aster: Callable[..., Done]
    team: str
    request: str


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[tuple[str, str, str]]:
    async with ModelServer() as model, live(model, sqlite_db_path=folder / "b.sqlite") as running:
        own = Drill(running.http, model)
        item = await own.item("Dig")
        again = calls(("submit_plan", {"plan": "Dig deeper."}))
        own.plays["Ada"] = [calls(("submit_plan", {"plan": "1. Dig.\n2. Look."})), again, says("Dug.")]
        ada = {"name": "Ada", "role": "digger", "item_id": item, "require_plan": True}
        team_id = (await own.team(ada, {"name": "Bob"}))["team_id"]
        await own.until(team_id, "Bob", "idle")
        plan = await own.until_plan(team_id, "Ada", "pending")
        yield running.url, team_id, plan["request_id"]


@pytest.fixture
def crew(home: Home, tmp_path: Path) -> Iterator[Crew]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(engine(tmp_path)) as (url, team, plan),
    ):
        yield Crew(lambda *args: home.call("team", *args, "--url", url), team, plan)


def test_a_team_is_shown_written_to_and_its_plans_are_answered(crew: Crew) -> None:
    aster, team = crew.aster, crew.team
    assert [line.split()[:3] for line in aster().stdout.splitlines()[1:]] == [[team, "crew", "active"]]
    shown = aster("show", team).stdout
    assert "digger" in shown
    assert "pending" in shown
    plans = aster("plans", team).stdout
    assert crew.request in plans
    assert "2. Look." in plans
    assert "Written to Bob." in aster("say", team, "Bob", "Wait for Ada.").stdout
    assert "Wait for Ada." in aster("mail", team, "--member", "Bob").stdout
    assert aster("say", team, "Eve", "Who?").returncode != 0
    rejected = aster("reject", team, "ada", "--feedback", "Deeper.")
    assert f"The plan of Ada is rejected ({crew.request})." in rejected.stdout, rejected.stderr
    assert "No plan of 'Bob' waits for a yes" in aster("approve", team, "Bob").stderr
    refused = aster("approve", team, crew.request)
    assert refused.returncode != 0
    assert "is rejected already" in refused.stderr


def test_programs_get_json_and_members_are_stopped(crew: Crew) -> None:
    aster, team = crew.aster, crew.team
    (listed,) = json.loads(aster("list", "--status", "active", "--json").stdout)["teams"]
    assert listed["team_id"] == team
    plans = json.loads(aster("plans", team, "--json").stdout)
    assert [one["content"] for one in plans["pending"]] == ["1. Dig.\n2. Look."]
    approved = json.loads(aster("approve", team, crew.request, "--json").stdout)
    assert (approved["status"], approved["member"]) == ("approved", "Ada")
    stopped = json.loads(aster("stop", team, "Bob", "--reason", "Done.", "--json").stdout)
    assert (stopped["kind"], stopped["status"]) == ("shutdown", "approved")
    again = aster("stop", team, "Bob")
    assert again.returncode != 0
    assert "has stopped" in again.stderr
    members = json.loads(aster("stop", team, "Ada", "--now", "--json").stdout)["members"]
    assert {one["name"]: one["status"] for one in members} == {"Ada": "stopped", "Bob": "stopped"}
    assert f"{team} [stopped] crew" in aster("stop", team).stdout
    assert aster("show", "team-none").returncode != 0
