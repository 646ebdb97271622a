"""What other replicas do to a user's connections, followed row by row."""

import asyncio
from pathlib import Path

from aster.asset_directory.following import Following, Users
from aster.asset_directory.held import Held, Holdings
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.contracts.assets import ActionDef, ServerConfigPayload
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings

SECRET = "tok-9f8Ae7Kd6Lq5"


def held(vault: Vault, name: str, ref_id: str, *actions: str) -> Held:
    row = ConnectionRow(
        ref_id=ref_id,
        user_id="ada",
        server_name=name,
        status="connected",
        scopes=b"[]",
        credentials=vault.seal(Kept(headers={"Authorization": f"Bearer {SECRET}"})),
        created_at=1,
        updated_at=1,
    )
    server = ServerConfigPayload(server_name=name, url="http://127.0.0.1:9/mcp")
    offers = tuple(
        ActionDef(server_name=name, action=action, description="", input_schema={}) for action in actions
    )
    return Held(row, server, own=False, actions=offers)


class Elsewhere:
    """The rows that other replicas write: what `ada` holds."""

    def __init__(self, vault: Vault, *connections: Held) -> None:
        self.connections = {one.server.server_name: one for one in connections}
        lock = asyncio.Lock()
        self.following = Following(vault, self._users, self._read, lambda _: lock)

    async def _users(self) -> list[str]:
        return ["ada"] if self.connections else []

    async def _read(self, user_id: str) -> Holdings:
        return Holdings(dict(self.connections) if user_id == "ada" else {})


async def test_connections_come_change_and_go(tmp_path: Path) -> None:
    secrets = Secrets()
    vault = Vault(Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite"}), secrets)
    users: Users = {}
    elsewhere = Elsewhere(vault, held(vault, "mail", "conn-1", "send"))
    await elsewhere.following.follow(users)
    ada = users["ada"]
    assert ada is not None
    assert [action.name for action, _ in ada.actions] == ["mail.send"]

    known, version = ada.held["mail"], ada.version
    changed = held(vault, "mail", "conn-1", "send", "read")
    elsewhere.connections = {"mail": changed, "files": held(vault, "files", "conn-2", "list")}
    await elsewhere.following.follow(users)
    assert users["ada"] is ada
    assert ada.held["mail"] is known, "a session goes on while its connection is the same"
    assert known.row == changed.row
    assert ada.version > version
    assert {action.name for action, _ in ada.actions} == {"mail.send", "mail.read", "files.list"}

    version = ada.version
    elsewhere.connections["mail"] = held(vault, "mail", "conn-1", "send", "read")
    await elsewhere.following.follow(users)
    assert ada.version == version, "new credentials change nothing that can be called"

    vault.learn(known.row)
    assert SECRET not in secrets.clean(f"it is {SECRET}", "tool")
    elsewhere.connections = {"mail": held(vault, "mail", "conn-9")}
    await elsewhere.following.follow(users)
    assert ada.held["mail"].row.ref_id == "conn-9"
    assert SECRET in secrets.clean(f"it is {SECRET}", "tool"), "the credentials of what ended are nobody's secret"
    elsewhere.connections = {}
    await elsewhere.following.follow(users)
    assert users == {}


async def test_who_has_not_been_looked_up_yet_is_left_until_then(tmp_path: Path) -> None:
    vault = Vault(Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite"}), Secrets())
    elsewhere = Elsewhere(vault, held(vault, "mail", "conn-1"))
    users: Users = {"ada": None}
    await elsewhere.following.follow(users)
    assert users == {"ada": None}
