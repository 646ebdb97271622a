"""Teams whose members say what a test has written for them: each by its own name, call by call."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, TypeAlias

import httpx2

from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.testing.calls import RecordedCall
from aster.testing.script import Answer
from tests.live import live

PATIENCE = 30.0

Play: TypeAlias = Answer | Callable[[RecordedCall], Answer]
"""What is said, or how it is made from what was heard."""


class Drill:
    """`plays[name]` is what a member says, the next thing first; whoever has nothing left to say is done. `lead` is the
    task that leads."""

    def __init__(self, http: httpx2.AsyncClient, model: ModelServer) -> None:
        self.http = http
        self.model = model
        self.plays: dict[str, list[Play]] = defaultdict(list)
        self.heard: dict[str, list[RecordedCall]] = defaultdict(list)
        model.script([self._answer])

    def beside(self, http: httpx2.AsyncClient) -> "Drill":
        """The same play, seen from another engine."""
        other = copy(self)
        other.http = http
        return other

    def _answer(self, call: RecordedCall) -> Answer:
        name = who(call)
        self.heard[name].append(call)
        play = self.plays[name].pop(0) if self.plays[name] else says(f"{name} is done.")
        return play(call) if callable(play) else play

    async def say(self, message: str, task_id: str, **body: Any) -> None:
        """A turn of a task, to its end."""
        answer = await self.http.post("/execute", json={"message": message, "task_id": task_id, **body})
        assert answer.status_code == 200, answer.text

    async def team(self, *members: dict[str, Any], **body: Any) -> dict[str, Any]:
        drafts = [{"prompt": f"Begin, {member['name']}.", **member} for member in members]
        answer = await self.http.post("/teams", json={"name": "crew", "members": drafts, **body})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def item(self, subject: str = "Dig", **fields: Any) -> str:
        made = await self.http.post("/work/items", json={"items": [{"subject": subject}], **fields})
        return made.json()["items"][0]["item_id"]

    async def get(self, path: str) -> dict[str, Any]:
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.http.post(path, json=body)
        return answer.status_code, answer.json()

    async def member(self, team_id: str, name: str) -> dict[str, Any]:
        sheet = await self.get(f"/teams/{team_id}")
        return next(one for one in sheet["members"] if one["name"] == name)

    async def until(self, team_id: str, name: str, status: str) -> dict[str, Any]:
        """Wait until a member that has had a turn is so."""
        async with asyncio.timeout(PATIENCE):
            while (found := await self.member(team_id, name))["status"] != status or not found["turn_id"]:
                await asyncio.sleep(0.02)
        return found

    async def until_results(self, task_id: str, count: int) -> list[dict[str, Any]]:
        """Wait until so many calls of a task came to something."""
        async with asyncio.timeout(PATIENCE):
            while len(found := await self.results(task_id)) < count:
                await asyncio.sleep(0.02)
        return found

    async def plan(self, team_id: str, name: str) -> dict[str, Any] | None:
        plans = (await self.get(f"/teams/{team_id}/plans"))["plans"]
        return next((one for one in plans if one["member"] == name), None)

    async def until_plan(self, team_id: str, name: str, status: str) -> dict[str, Any]:
        """Wait until it stands so with a member's plan."""
        async with asyncio.timeout(PATIENCE):
            while (found := await self.plan(team_id, name)) is None or found["status"] != status:
                await asyncio.sleep(0.02)
        return found

    async def requests(self, team_id: str, **params: Any) -> list[dict[str, Any]]:
        answer = await self.http.get(f"/teams/{team_id}/requests", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()["requests"]

    async def answer(self, team_id: str, request_id: str, **body: Any) -> tuple[int, dict[str, Any]]:
        return await self.post(f"/teams/{team_id}/requests/{request_id}/answer", **body)

    async def mail(self, team_id: str, kind: str) -> list[dict[str, Any]]:
        found = (await self.http.get(f"/teams/{team_id}/mail", params={"limit": 200})).json()["mail"]
        return [one for one in reversed(found) if one["type"] == kind]

    async def results(self, task_id: str) -> list[dict[str, Any]]:
        """What the calls of a task came to, in order."""
        return [event for event in await self.events(task_id, "tool_result") if not event.get("depth")]

    async def events(self, task_id: str, kind: str) -> list[dict[str, Any]]:
        answer = await self.http.get(f"/tasks/{task_id}/events", params={"types": kind, "limit": 1000})
        assert answer.status_code == 200, answer.text
        return answer.json()["events"]


def who(call: RecordedCall) -> str:
    """The member that a call was made for; `lead` for the one that leads."""
    system = call.conversation.system
    return (
        system.partition("You are ")[2].partition(",")[0].split(" ")[0]
        if "a member of the team" in system
        else "lead"
    )


def calls(*made: tuple[str, dict[str, Any]]) -> Reply:
    return Reply([ToolCall(name, given, id=f"c{at}-{name}") for at, (name, given) in enumerate(made)])


def says(text: str) -> Reply:
    return Reply([Text(text)])


@asynccontextmanager
async def drill(**settings: Any) -> AsyncGenerator[Drill]:
    async with ModelServer() as model, live(model, **settings) as engine:
        yield Drill(engine.http, model)
