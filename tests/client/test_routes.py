"""Every public route of an engine can be reached through the SDK, or is named here with the reason why not."""

import asyncio
import inspect
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aster.client import AsterClient, EngineError
from aster.contracts.agents import Agent
from aster.contracts.work import WorkEdit
from aster.reference.http import document

OTHER_CLIENTS = "speaks another client's protocol; `execute` is the engine's own"
WITH_A_CONVERSATION = "for clients that keep the conversation themselves; `files.pack` and `unpack` have the files"
LEFT_OUT = {
    "POST /v1/chat/completions": OTHER_CLIENTS,
    "POST /v1/responses": OTHER_CLIENTS,
    "GET /v1/responses/{response_id}": OTHER_CLIENTS,
    "DELETE /v1/responses/{response_id}": OTHER_CLIENTS,
    "GET /v1/responses/{response_id}/input_items": OTHER_CLIENTS,
    "POST /v1/responses/{response_id}/cancel": OTHER_CLIENTS,
    "GET /v1/models": OTHER_CLIENTS,
    "GET /v1/models/{name}": OTHER_CLIENTS,
    "POST /api/chat": OTHER_CLIENTS,
    "POST /api/turn/cancel": OTHER_CLIENTS,
    "POST /api/generate": OTHER_CLIENTS,
    "POST /api/show": OTHER_CLIENTS,
    "GET /api/tags": OTHER_CLIENTS,
    "GET /api/version": OTHER_CLIENTS,
    "POST /api/workspace/save": WITH_A_CONVERSATION,
    "POST /api/workspace/load": WITH_A_CONVERSATION,
    "GET /assets/oauth/callback": "where browsers come back from a login page; `assets.finish_login` is for programs",
    "GET /assets/oauth/client.json": "for authorization servers",
}
GIVEN: dict[str, Any] = {
    "agent": Agent(name="x", description="x", system_prompt="x"),
    "bundle": {},
    "call": 1,
    "confirm": "everything",
    "edit": WorkEdit(),
    "fields": {},
    "given": {},
    "helpful": True,
    "limit_usd": 1.0,
    "number": 1,
    "params": {},
    "seq": 1,
}


def routes() -> list[str]:
    """As docs/reference/openapi.json has them."""
    return [f"{method.upper()} {path}" for path, methods in document()["paths"].items() for method in methods]


def route_of(request: str) -> str | None:
    """The route a request is for; of two that fit, the one that says more."""
    for route in sorted(routes(), key=lambda route: route.count("{")):
        pattern = re.escape(route).replace(r"\{path\}", ".+")
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", pattern), request):
            return route
    return None


@asynccontextmanager
async def refusing(asked: list[str]) -> AsyncGenerator[str]:
    """An engine that knows no task, and notes what it is asked."""
    body = json.dumps({"error": "TASK_NOT_FOUND", "message": "No.", "retry": "never"}).encode()
    head = f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = request.split(" ", 2)
        asked.append(f"{method} {target.partition('?')[0]}")
        size = re.search(r"content-length: (\d+)", request, re.IGNORECASE)
        await reader.readexactly(int(size[1]) if size else 0)
        writer.write(head + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def use(method: Any, given: dict[str, Any]) -> None:
    """Call a method with whatever it needs."""
    needed = [
        name
        for name, one in inspect.signature(method).parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]
    answer = method(**{name: given.get(name, "x") for name in needed})
    with suppress(EngineError):
        if isinstance(answer, AsyncIterator):
            await anext(answer)
        else:
            await answer


async def test_every_route_is_reached_or_left_out_for_a_reason(tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(b"x")
    given = GIVEN | {"file": local, "archive": local, "to": tmp_path / "fetched"}
    asked: list[str] = []
    async with refusing(asked) as url, AsterClient(url) as client:
        for owner in (client, *(part for name, part in vars(client).items() if not name.startswith("_"))):
            for name, method in inspect.getmembers(owner, inspect.ismethod):
                if not name.startswith("_") and name != "close":
                    before = len(asked)
                    await use(method, given)
                    assert len(asked) > before, f"{type(owner).__name__}.{name} asks nothing"
    reached = {route_of(request) for request in asked}
    assert None not in reached, "the SDK asks for something that is no route"
    assert reached.isdisjoint(LEFT_OUT)
    assert reached | LEFT_OUT.keys() == set(routes())
