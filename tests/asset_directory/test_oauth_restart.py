"""A call that waits for a login outlives the engine: killed, started again, logged in, and the call goes on."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.asset_directory.oauth import REDIRECT, behind_login, come_back, described
from tests.process import engine

Catalog = Callable[..., Path]


async def read(http: httpx2.AsyncClient, kind: str) -> list[dict[str, Any]]:
    found = (await http.get("/tasks/t1/events", params={"limit": 1000})).json()["events"]
    return [event for event in found if event["type"] == kind]


async def until(http: httpx2.AsyncClient, phase: str) -> None:
    async with asyncio.timeout(20):
        while phase not in [event["phase"] for event in await read(http, "thread_lifecycle")]:
            await asyncio.sleep(0.05)


async def test_a_call_goes_on_after_a_kill_and_a_login(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    async with behind_login() as oauth:
        settings = {
            "CATALOG_DIR": str(catalog(fix=described(oauth))),
            "OAUTH_REDIRECT_BASE_URL": REDIRECT,
            "SANDBOX": "off",
        }
        process = engine(tmp_path, model.url, **settings)
        http = httpx2.AsyncClient(base_url=process.url, timeout=20, trust_env=False)
        try:
            await process.up()
            pending = (await http.post("/assets/connect", json={"server_name": "fix"})).json()
            await process.kill()
            await process.up()
            assert (await come_back(http, pending["auth_url"])).json()["status"] == "connected"
            oauth.withdraw()
            wanted = [ToolCall("fix.add", {"a": a, "b": 1}, id=f"c{a}") for a in (1, 2)]
            model.enqueue(Reply(wanted), Reply([Text("done")]))
            async with http.stream("POST", "/execute", json={"message": "go", "task_id": "t1"}):
                await until(http, "suspended")
            await process.kill()
            await process.up()
            (asked,) = (await http.get("/hitl/pending")).json()["pending"]
            assert (asked["kind"], asked["tool"]) == ("login", "fix.add")
            link = (await http.post(f"/assets/connections/{pending['ref_id']}/login")).json()["auth_url"]
            assert link != asked["input"]["url"]
            assert (await come_back(http, link)).json()["status"] == "connected"
            await until(http, "completed")
            assert [event["output"] for event in await read(http, "tool_result")] == ["2", "3"]
        finally:
            await process.kill()
            await http.aclose()
        log = (tmp_path / "engine.log").read_bytes()
        kept = b"".join(part.read_bytes() for part in tmp_path.glob("brain.sqlite*"))
        assert [secret for secret in oauth.given_out if secret.encode() in kept + log] == []
