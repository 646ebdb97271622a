"""A project of a running engine, as a client sees it; its model answers each item with what a test wrote for it."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aster.testing import ModelServer, RecordedCall, Reply, Text
from aster.testing.script import Answer
from tests.live import Live, live

_ITEM = re.compile(r"nothing beyond it: (.*)")
_SAID = re.compile(r"The person was asked and answered: (.*)")


class Room:
    """`answers` are what its model says of an item (by subject), one after the other; the last is said again."""

    def __init__(self, engine: Live, model: ModelServer) -> None:
        self.engine = engine
        self.http = engine.http
        self.model = model
        self.answers: dict[str, list[Answer | str]] = {}
        model.script([self._answer])

    def _answer(self, call: RecordedCall) -> Answer | None:
        said = str(call.body)
        items = [found.split("\\n")[0] for found in _ITEM.findall(said)]
        if not items:
            return None
        left = self.answers.get(items[-1], [f"{items[-1]}: it is so."])
        found = left.pop(0) if len(left) > 1 else left[0]
        return Reply([Text(found)]) if isinstance(found, str) else found

    async def make(self, title: str = "Bridge", *items: Any, **body: Any) -> str:
        """A project with these items; its id."""
        answer = await self.http.post("/projects", json={"title": title, **body})
        assert answer.status_code == 201, answer.text
        project_id = answer.json()["project_id"]
        if items:
            await self.add(project_id, *items)
        return project_id

    async def add(self, project_id: str, *items: Any, **body: Any) -> list[str]:
        drafts = [{"subject": item} if isinstance(item, str) else item for item in items]
        answer = await self.http.post(f"/projects/{project_id}/items", json={"items": drafts, **body})
        assert answer.status_code == 201, answer.text
        return [item["item_id"] for item in answer.json()["items"]]

    async def get(self, project_id: str, *path: str) -> Any:
        answer = await self.http.get("/".join(("/projects", project_id, *path)))
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, project_id: str, verb: str, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.http.post(f"/projects/{project_id}/{verb}", json=body)
        return answer.status_code, answer.json()

    async def advance(self, project_id: str, until: str = "step") -> dict[str, Any]:
        status, answer = await self.post(project_id, "advance", until=until)
        assert status == 202, answer
        return answer

    async def refused(self, project_id: str, verb: str = "advance", **body: Any) -> tuple[str, str]:
        status, answer = await self.post(project_id, verb, **body)
        assert status == 409, answer
        return answer["details"]["reason"], answer["message"]

    async def states(self, project_id: str) -> dict[str, str]:
        """How its items stand."""
        return {item["subject"]: item["status"] for item in (await self.get(project_id, "items"))["items"]}

    async def settled(self, project_id: str, seconds: float = 20.0) -> dict[str, Any]:
        """The project once nothing works on it, or it waits for a person."""

        async def done() -> Any:
            found = await self.get(project_id)
            rests = found["advance"] is None and not found["going"]
            return found if rests or found["status"] == "NEEDS_USER" else None

        return await until(done, seconds)

    async def kinds(self, project_id: str) -> list[str]:
        """What has happened, the oldest first."""
        return [one["kind"] for one in (await self.get(project_id, "events"))["events"]][::-1]


async def until(holds: Callable[[], Awaitable[Any]], seconds: float = 20.0) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := await holds()):
            await asyncio.sleep(0.05)
    return found


@asynccontextmanager
async def room(**settings: Any) -> AsyncGenerator[Room]:
    async with ModelServer() as model, live(model, **settings) as engine:
        yield Room(engine, model)
