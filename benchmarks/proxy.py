"""The yardstick: a server that passes bytes from the model to the client and does nothing else.

It stands on what Aster stands on (uvicorn, uvloop, httpx2), so that the difference is what Aster does: it
remembers, runs tools, commits every event before it shows it. Run as ``python -m benchmarks.proxy``.
"""

import argparse
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import httpx2
import uvicorn

Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

_SSE = [(b"content-type", b"text/event-stream")]


class Proxy:
    """An ASGI application of one route, and ``/health``."""

    def __init__(self, model: str) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=512)
        self._url = f"{model}/v1/chat/completions"
        self._http = httpx2.AsyncClient(timeout=None, limits=limits, trust_env=False)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _lifespan(receive, send)
        elif scope["path"] == "/health":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})
        else:
            await self._pass(await _body(receive), send)

    async def _pass(self, body: bytes, send: Send) -> None:
        headers = {"content-type": "application/json"}
        async with self._http.stream("POST", self._url, content=body, headers=headers) as answer:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": _SSE})
            async for piece in answer.aiter_raw():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proxy", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True, help="where the model server is")
    options = parser.parse_args()
    proxy: Any = Proxy(options.model)
    uvicorn.run(
        proxy,
        host="127.0.0.1",
        port=options.port,
        loop="uvloop",
        log_level="warning",
        access_log=False,
        backlog=1024,
    )


if __name__ == "__main__":
    main()
