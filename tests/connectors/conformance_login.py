"""The asset directory as a client that logs in, for the public conformance suite: `… <address of its server>`.

It does what a person and an engine do together: connects, opens the login page, comes back, calls every tool, and logs
in again when a tool wants more, a few times at most.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from aster.asset_directory.credentials import StoredCredentials
from aster.asset_directory.directory import AssetDirectory
from aster.asset_directory.oauth.logins import Returned
from aster.asset_directory.vault import Vault
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces
from tests.connectors.conformance_client import GIVEN, Nobody

USER = "conformance"
BASE = "http://localhost:3000"
DOCUMENT = "https://conformance-test.local/client-metadata.json"
LOGINS = 3


def issuer_of(url: str) -> str:
    """Whom an operator finds in the server's description of itself."""
    place = urlsplit(url)
    described = f"{place.scheme}://{place.netloc}/.well-known/oauth-protected-resource{place.path}"
    return httpx2.get(described, trust_env=False).json()["authorization_servers"][0]


def written(place: Path, url: str) -> Path:
    """A catalog with the suite's server in it."""
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    server: dict[str, Any] = {"url": url, "auth_method": "oauth", "timeout_seconds": 20}
    if "client_id" in context:
        secret = context.get("client_secret", "")
        issuer = {"issuer": issuer_of(url)} if secret else {}
        server["oauth"] = {"client_id": context["client_id"], "client_secret": secret, **issuer}
    (place / "mcp").mkdir(parents=True)
    (place / "mcp" / "suite.json").write_text(json.dumps(server))
    return place


async def log_in(directory: AssetDirectory, auth_url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(auth_url)
    back = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    returned = Returned(back["state"], back.get("code", ""), back.get("iss"), back.get("error", ""))
    await directory.desk.finish(returned)


async def call(directory: AssetDirectory, number: int) -> None:
    """Call one of the tools, as often as it takes."""
    for _ in range(LOGINS):
        holdings = await directory.look_up(USER)
        action = next((one for one, _ in holdings.actions[number:]), None)
        try:
            if action is None:
                return
            key, given = f"call-{number}", GIVEN.get(action.original, {})
            exchange = await directory.begin(USER, action, given, Nobody(), key, lambda event: None)
            exchange.begin()
            found = await exchange.finished()
            await directory.finished(USER, exchange, key, lambda event: None)
            sys.stderr.write(f"{action.name}: {found}\n")
            return
        except EngineError as error:
            if error.code is not ErrorCode.MCP_TOKEN_EXPIRED:
                raise
            await log_in(directory, await directory.desk.link_for(USER, "suite"))


async def main(url: str) -> None:
    with tempfile.TemporaryDirectory(prefix="aster-conformance-") as place:
        settings = Settings.model_validate(
            {
                "sqlite_db_path": Path(place) / "brain.sqlite",
                "catalog_dir": written(Path(place) / "catalog", url),
                "fetch_allowed_private": "127.0.0.1,localhost,::1",
                "oauth_redirect_base_url": BASE,
                "oauth_client_metadata_url": DOCUMENT,
                "sandbox": "off",
            }
        )
        secrets, brain = Secrets(), SqliteBrain(settings.sqlite_db_path)
        vault, sandbox = Vault(settings, secrets), await choose(settings)
        await brain.start()
        credentials = StoredCredentials(vault, secrets)
        directory = AssetDirectory(settings, brain, sandbox, Workspaces(settings, sandbox), vault, credentials)
        await directory.start()
        try:
            connection = await directory.connect(USER, "suite")
            assert connection.auth_url is not None, connection
            await log_in(directory, connection.auth_url)
            (connection,) = await directory.connections(USER)
            sys.stderr.write(f"{connection}\n")
            for number in range(max(1, connection.tools)):
                await call(directory, number)
        finally:
            await directory.close()
            await brain.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
