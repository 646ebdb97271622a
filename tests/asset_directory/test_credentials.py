"""What a server is sent to show who asks: the operator's words, variables filled in, and what the user gave."""

from pathlib import Path

import pytest

from aster.asset_directory.credentials import StoredCredentials
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings

SERVER = ServerConfigPayload(
    server_name="s",
    url="https://example.com",
    headers={
        "Authorization": "Bearer ${TRACKER_KEY}",
        "X-Api-Token": "written-in-the-file",
        "Accept-Language": "en",
    },
)


def row(credentials: bytes | None) -> ConnectionRow:
    return ConnectionRow(
        ref_id="conn-1",
        user_id="u",
        server_name="s",
        status="connected",
        scopes=b"[]",
        created_at=0,
        updated_at=0,
        credentials=credentials,
    )


async def test_variables_are_filled_in_and_known_as_secrets(tmp_path: Path) -> None:
    secrets = Secrets()
    vault = Vault(Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite"}), secrets)
    credentials = StoredCredentials(vault, secrets, {"TRACKER_KEY": "the-operators-own-key"})
    own = vault.seal(Kept(headers={"X-User": "the-users-own-word"}))
    headers = await credentials.headers_for(row(own), SERVER)
    assert headers == {
        "Authorization": "Bearer the-operators-own-key",
        "X-Api-Token": "written-in-the-file",
        "Accept-Language": "en",
        "X-User": "the-users-own-word",
    }
    shown = secrets.clean("the-operators-own-key written-in-the-file the-users-own-word", "tool")
    assert not any(part in shown for part in ("operators", "written"))
    assert "the-users-own-word" in shown


async def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    secrets = Secrets()
    vault = Vault(Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite"}), secrets)
    with pytest.raises(EngineError, match="TRACKER_KEY"):
        await StoredCredentials(vault, secrets, {}).headers_for(row(None), SERVER)
