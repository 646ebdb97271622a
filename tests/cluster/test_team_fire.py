"""A team with much to do and much mail while replicas die: all of it is done once, and every word is heard once, in its
order."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx2

from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.testing.calls import RecordedCall
from tests.cluster.replicas import Replica, replicas, soon
from tests.cluster.turns import of_type, thread
from tests.work.teams.drills import who

NAMES = ("Ada", "Bob", "Cleo")
ITEMS = 12
NOTES = 6


def answer(call: RecordedCall) -> Reply:
    """Members complete what they have taken, whoever asks for them and however often."""
    said = json.dumps(call.body)
    for item_id in re.findall(r"\[Auto-claimed task (work-\w+)\]", said) if who(call) != "lead" else ():
        if f'"done-{item_id}"' not in said:
            return Reply([ToolCall("task_complete", {"id": item_id, "result": "done"}, id=f"done-{item_id}")])
    return Reply([Text("That is all so far, I think.")], rate=20)


async def got(replica: Replica, path: str, **params: Any) -> dict[str, Any]:
    found = await replica.http.get(path, params=params)
    assert found.status_code == 200, found.text
    return found.json()


async def write(alive: list[Replica], team_id: str, name: str) -> list[str]:
    """Notes to a member, each through another replica; one that may or may not have been taken is worded anew."""
    sent: list[str] = []
    for number in range(NOTES):
        await asyncio.sleep(0.2)
        for again in range(100):
            note = f"Note {number}-{again} for {name}."
            try:
                place = alive[number % len(alive)].http
                done = await place.post(f"/teams/{team_id}/mail", json={"to": name, "content": note})
            except httpx2.TransportError:
                await asyncio.sleep(0.1)
                continue
            if done.status_code == 201:
                sent.append(note)
                break
            await asyncio.sleep(0.2)
    return sent


async def test_all_is_done_once_and_heard_once_though_replicas_die(tmp_path: Path, database_url: str) -> None:
    async with (
        ModelServer([answer]) as model,
        replicas(tmp_path, model.url, database_url, 3, SANDBOX="off") as engines,
    ):
        alive = list(engines)
        await asyncio.sleep(2.2)  # a replica that has just joined takes nobody for dead
        members = [{"name": name, "prompt": "Begin."} for name in NAMES]
        team = (await alive[0].http.post("/teams", json={"members": members})).json()
        team_id, board = team["team_id"], team["board"]
        drafts = [
            {"subject": str(at), "name": f"n{at}", "blocked_by": [f"n{at - 4}"] if at >= 4 else []}
            for at in range(ITEMS)
        ]
        made = (await alive[0].http.post("/work/items", json={"items": drafts, "board": board})).json()["items"]
        writing = [asyncio.create_task(write(alive, team_id, name)) for name in NAMES]
        for _ in range(2):
            await asyncio.sleep(0.8)
            await alive.pop(0).process.kill()
        (left,) = alive
        sent = dict(zip(NAMES, await asyncio.gather(*writing), strict=True))

        async def at_rest() -> bool:
            sheet = await got(left, f"/teams/{team_id}")
            resting = {one["status"] for one in sheet["members"]} == {"idle"}
            return resting and not sheet["unread"] and sheet["items"]["completed"] == ITEMS

        await soon(at_rest, 90)
        for item in made:
            changes = (await got(left, f"/work/items/{item['item_id']}/history"))["changes"]
            assert [one["action"] for one in reversed(changes)] == ["created", "claimed", "completed"]
        mail = (await got(left, f"/teams/{team_id}/mail", limit=200))["mail"][::-1]
        for name in ("lead", *NAMES):
            own = [one for one in mail if one["recipient"] == name]
            assert [one["seq"] for one in own] == list(range(1, len(own) + 1))
            assert all(one["acked_at"] for one in own)
        for one in (await got(left, f"/teams/{team_id}"))["members"]:
            heard = json.dumps(of_type(await thread(left, one["task_id"]), "user_message"))
            notes = sent[one["name"]]
            assert [heard.count(note) for note in notes] == [1] * NOTES
            assert sorted(notes, key=heard.index) == notes
        told = [one["message_id"] for one in of_type(await thread(left, team["lead_task_id"]), "team_message")]
        assert len(told) == len(set(told))
        assert {one["message_id"] for one in mail} == set(told)
