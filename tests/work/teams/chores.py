"""A team that works a board off by itself, and what has to be true of it however often its engines died."""

import asyncio
import re
from collections import Counter
from typing import Any

import httpx2

from aster.testing import Reply, Text
from aster.testing.calls import RecordedCall
from aster.testing.script import Answer
from tests.work.teams.drills import calls, who

_CLAIMED = re.compile(r"\[Auto-claimed task (\S+)\]")


def worker(call: RecordedCall) -> Answer:
    """Completes what it was given, and says so, not too fast."""
    claimed = _CLAIMED.search(call.text)
    if claimed is not None and not call.round:
        return calls(("task_complete", {"id": claimed[1], "result": f"by {who(call)}"}))
    return Reply([Text("That is done now, all of it.")], rate=20)


async def begun(http: httpx2.AsyncClient, names: tuple[str, ...], items: int) -> tuple[dict[str, Any], list[str]]:
    """A team and the items on its board."""
    members = [{"name": name, "prompt": f"Begin, {name}."} for name in names]
    team = (await http.post("/teams", json={"name": "crew", "members": members})).json()
    drafts = [{"subject": f"chore {at}"} for at in range(items)]
    made = await http.post("/work/items", json={"items": drafts, "board": team["board"]})
    return team, [one["item_id"] for one in made.json()["items"]]


async def finished(http: httpx2.AsyncClient, team_id: str, items: list[str], seconds: float = 60) -> dict[str, Any]:
    """Wait until everything is completed and everybody rests; the team then."""
    async with asyncio.timeout(seconds):
        while True:
            sheet = (await http.get(f"/teams/{team_id}")).json()
            rest = {one["status"] for one in sheet["members"]} == {"idle"} and not sheet["unread"]
            if rest and sheet["items"]["completed"] == len(items):
                return sheet
            await asyncio.sleep(0.05)


async def nothing_lost_nothing_doubled(http: httpx2.AsyncClient, sheet: dict[str, Any], items: list[str]) -> None:
    """Each item was claimed by one and completed by it; each turn has told of itself once."""
    for item_id in items:
        changes = (await http.get(f"/work/items/{item_id}/history")).json()["changes"]
        assert [one["action"] for one in reversed(changes)] == ["created", "claimed", "completed"], changes
        assert changes[0]["by"] == changes[1]["by"]
        assert changes[1]["detail"]["source"] == "auto"
    mail = (await http.get(f"/teams/{sheet['team_id']}/mail", params={"limit": 200})).json()["mail"]
    assert all(one["acked_at"] for one in mail)
    sent = Counter((one["sender"], one["type"]) for one in mail)
    for member in sheet["members"]:
        name, turns = member["name"], member["turns"]
        assert sent[name, "result"] == sent[name, "idle_notification"] == turns, (sent, member)
        assert sent[name, "error"] == 0
        events = (await http.get(f"/tasks/{member['task_id']}/events", params={"limit": 1000})).json()["events"]
        assert sum(one["type"] == "user_message" for one in events) == turns
        ends = [one for one in events if one["type"] == "thread_lifecycle" and one["phase"] == "completed"]
        assert len(ends) == turns
    assert sum(member["turns"] for member in sheet["members"]) == len(items) + len(sheet["members"])
    told = (
        await http.get(f"/tasks/{sheet['lead_task_id']}/events", params={"types": "team_message", "limit": 1000})
    ).json()["events"]
    assert sorted(one["message_id"] for one in told) == sorted(one["message_id"] for one in mail)
