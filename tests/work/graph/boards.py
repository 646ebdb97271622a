"""A board of a running engine, as a client and as a model see it; each test on a file and on PostgreSQL."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from aster.testing import ModelServer
from tests.live import Live, Seen, live

Opened: TypeAlias = Callable[[], AbstractAsyncContextManager["Board"]]


class Board:
    """`model` answers the turns that `call` begins."""

    def __init__(self, engine: Live, model: ModelServer) -> None:
        self.engine = engine
        self.http = engine.http
        self.model = model

    async def make(self, *items: Any, **body: Any) -> list[dict[str, Any]]:
        """Put items on the board; a text is a subject."""
        drafts = [{"subject": item} if isinstance(item, str) else item for item in items]
        answer = await self.http.post("/work/items", json={"items": drafts, **body})
        assert answer.status_code == 201, answer.text
        return answer.json()["items"]

    async def ids(self, *items: Any, **body: Any) -> list[str]:
        return [item["item_id"] for item in await self.make(*items, **body)]

    async def ask(self, verb: str, item_id: str, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.http.post(f"/work/items/{item_id}/{verb}", json=body)
        return answer.status_code, answer.json()

    async def claim(self, item_id: str, owner: str) -> str:
        """`claimed`, or why not."""
        return said(await self.ask("claim", item_id, owner=owner), "claimed")

    async def done(self, item_id: str, owner: str, **body: Any) -> dict[str, Any]:
        status, answer = await self.ask("complete", item_id, owner=owner, **body)
        assert status == 200, answer
        return answer

    async def item(self, item_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/work/items/{item_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def link(self, *edges: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        """Let the first of each pair wait for the second."""
        add = [{"item_id": item_id, "blocked_by": needs} for item_id, needs in edges]
        answer = await self.http.post("/work/edges", json={"add": add})
        return answer.status_code, answer.json()

    async def ready(self) -> list[str]:
        answer = await self.http.get("/work/items", params={"ready": "true"})
        return [item["item_id"] for item in answer.json()["items"]]

    async def history(self, item_id: str) -> list[dict[str, Any]]:
        return (await self.http.get(f"/work/items/{item_id}/history")).json()["changes"]

    async def call(self, tool: str, task_id: str = "t1", **given: Any) -> tuple[dict[str, Any], list[Seen]]:
        """What a model gets for a call, and every frame of its turn."""
        frames = await self.engine.execute(
            f"[[text=3 tools=1 tool={tool} input={json.dumps(given)}]] Do it.", task_id
        )
        (result,) = (frame.data for frame in frames if frame.event == "tool_result")
        return result, frames


def said(answer: tuple[int, dict[str, Any]], well: str) -> str:
    status, body = answer
    if status == 200:
        return well
    return body.get("details", {}).get("reason", body["error"])


@asynccontextmanager
async def board(**settings: Any) -> AsyncGenerator[Board]:
    async with ModelServer() as model, live(model, **settings) as engine:
        yield Board(engine, model)
