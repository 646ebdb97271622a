"""A server behind a login, on loopback, and a person who logs in."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import uvicorn
from mcp.server.mcpserver import MCPServer

from aster.testing.oauth_server import OAuthServer
from tests.asset_directory.server import made
from tests.live import Live

REDIRECT = "http://127.0.0.1:9"
SETTINGS: dict[str, Any] = {"oauth_redirect_base_url": REDIRECT}


@asynccontextmanager
async def behind_login(server: MCPServer | None = None, **options: Any) -> AsyncGenerator[OAuthServer]:
    """An authorization server with a server behind it for as long as the block lasts."""
    oauth = OAuthServer((server or made()).streamable_http_app(), **options)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    oauth.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    running = uvicorn.Server(uvicorn.Config(oauth.asgi, log_level="error", lifespan="on", interface="asgi3"))
    task = asyncio.create_task(running.serve([listening]))
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield oauth
    finally:
        running.should_exit = True
        await task
        listening.close()


def described(at: OAuthServer, **more: Any) -> dict[str, Any]:
    """The server as the operator writes it down."""
    return {"url": f"{at.url}/mcp", "auth_method": "oauth", "policy": {"*": "allow"}, **more}


async def opened(auth_url: str) -> dict[str, str]:
    """Open a login page; what the browser is sent back with."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(auth_url)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert back.path == "/assets/oauth/callback"
    return {name: values[0] for name, values in parse_qs(back.query).items()}


async def come_back(http: httpx2.AsyncClient, auth_url: str) -> httpx2.Response:
    """Open a login page and come back to the engine, as a browser does it: without a key."""
    back = await opened(auth_url)
    return await http.get("/assets/oauth/callback", params=back, headers={"X-Engine-Key": ""})


async def logged_in(aster: Live, name: str, **request: Any) -> dict[str, Any]:
    """Connect a server and log in to it."""
    pending = await aster.http.post("/assets/connect", json={"server_name": name}, **request)
    assert pending.status_code == 200, pending.text
    assert pending.json()["status"] == "pending_oauth"
    done = await come_back(aster.http, pending.json()["auth_url"])
    assert done.status_code == 200, done.text
    return done.json()
