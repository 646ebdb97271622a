"""Connected servers through the SDK, with the login of a person."""

import asyncio
import json
from pathlib import Path

import pytest

from aster.client import AsterClient, EngineError
from aster.contracts.assets import ConnectionStatus
from aster.testing import ModelServer
from tests.asset_directory.oauth import SETTINGS, behind_login, come_back, described, opened
from tests.live import live


async def test_a_person_logs_in(model: ModelServer, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    (catalog / "mcp").mkdir(parents=True)
    async with behind_login() as oauth:
        (catalog / "mcp" / "fix.json").write_text(json.dumps(described(oauth)))
        async with live(model, catalog_dir=catalog, **SETTINGS) as engine, AsterClient(engine.url) as client:
            assert [(one.server_name, one.auth_method) for one in await client.assets.servers()] == [
                ("fix", "oauth")
            ]
            pending = await client.assets.connect("fix")
            assert pending.status is ConnectionStatus.PENDING_OAUTH
            assert pending.auth_url is not None
            with pytest.raises(EngineError, match="Nobody logged in to fix within 0 seconds"):
                await client.assets.wait_login(pending.ref_id, seconds=0)
            waiting = asyncio.create_task(client.assets.wait_login(pending.ref_id))
            assert (await come_back(engine.http, pending.auth_url)).status_code == 200
            assert (await waiting).status is ConnectionStatus.CONNECTED
            assert "fix.add" in [one.name for one in await client.assets.actions(pending.ref_id)]
            again = await client.assets.login(pending.ref_id)
            assert again.auth_url is not None
            back = await opened(again.auth_url)
            done = await client.assets.finish_login(back["state"], code=back["code"], iss=back.get("iss"))
            assert (done.status, done.ref_id) == (ConnectionStatus.CONNECTED, pending.ref_id)
            assert (await client.assets.disconnect(done.ref_id)).status is ConnectionStatus.DISCONNECTED
            with pytest.raises(EngineError, match="There is no connection"):
                await client.assets.wait_login("nobody")
