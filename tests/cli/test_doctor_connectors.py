"""What the doctor says about connected servers, and `aster assets` about logins."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2

from tests.asset_directory.oauth import behind_login, come_back, described
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.test_doctor import examine


async def logged_in(home: Home) -> str:
    """Log in as the program says; what it says then."""
    with home.start("assets", "login", "fix") as program:
        assert program.stdout is not None
        assert (await asyncio.to_thread(program.stdout.readline)).startswith("Open this page")
        page = (await asyncio.to_thread(program.stdout.readline)).strip()
        async with httpx2.AsyncClient(base_url=home.url, trust_env=False, timeout=20) as http:
            assert (await come_back(http, page)).status_code == 200
        return (await asyncio.to_thread(program.communicate, timeout=20))[0]


async def test_a_login_is_asked_for_and_seen(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "catalog" / "mcp"
    place.mkdir(parents=True)
    env = {"CATALOG_DIR": str(place.parent), "ENGINE_LOG_LEVEL": "WARNING"}

    async def run(*args: str) -> str:
        return (await asyncio.to_thread(home.aster, *args, env=env)).stdout

    async def checked() -> dict[str, Any]:
        report = json.loads(await run("doctor", "--json"))
        return {check["check"]: check for check in report["checks"]}

    async with behind_login() as oauth:
        (place / "fix.json").write_text(json.dumps(described(oauth)))
        with home.start("serve", env=env) as process:
            try:
                await asyncio.to_thread(wait_until_healthy, process, home.url)
                pending = json.loads(await run("assets", "connect", "fix", "--json"))
                assert pending["status"] == "pending_oauth"
                found = await checked()
                assert found["servers"]["found"] == "registered: 1"
                assert (found["connections"]["status"], found["connections"]["found"]) == (
                    "warn",
                    "pending oauth: 1",
                )
                assert "Logged in to fix" in await logged_in(home)
                found = await checked()
                assert found["connections"] == {"check": "connections", "status": "ok", "found": "connected: 1"}
                assert "1 credentials are under the newest key" in await run("assets", "rotate-key")
            finally:
                process.terminate()
                await asyncio.to_thread(process.communicate, timeout=20)


def test_a_server_file_that_is_wrong_is_named(home: Home, tmp_path: Path) -> None:
    (tmp_path / "catalog" / "mcp").mkdir(parents=True)
    (tmp_path / "catalog" / "mcp" / "bad.json").write_text("{}")
    _, found = examine(home, CATALOG_DIR=str(tmp_path / "catalog"))
    assert (found["servers"]["status"], "mcp/bad.json" in found["servers"]["found"]) == ("fail", True)
