"""Credentials are sealed with the operator's key or one of the engine's own, and open only with a key that fits."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from aster.asset_directory.vault import KEY_FILE, Kept, Vault
from aster.contracts.errors import EngineError
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings

KEPT = Kept(headers={"Authorization": "Bearer very-secret-token"}, environment={"KEY": "another-secret-value"})


def vault(tmp_path: Path, key: str | None = None, secrets: Secrets | None = None) -> Vault:
    settings = Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite", "ad_encryption_key": key})
    return Vault(settings, secrets or Secrets())


def test_what_is_sealed_opens_again_and_is_a_secret_from_then_on(tmp_path: Path) -> None:
    secrets = Secrets()
    sealed = vault(tmp_path).seal(KEPT)
    assert b"secret" not in sealed
    assert vault(tmp_path, secrets=secrets).open(sealed) == KEPT
    assert "very-secret-token" not in secrets.clean("it is very-secret-token", "tool")
    assert "another-secret-value" not in secrets.clean("another-secret-value", "tool")
    assert vault(tmp_path).open(None) == Kept()


def test_a_key_of_its_own_is_made_once_and_for_one_reader(tmp_path: Path) -> None:
    vault(tmp_path).seal(KEPT)
    file = tmp_path / KEY_FILE
    first = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    vault(tmp_path).seal(KEPT)
    assert file.read_bytes() == first


def test_keys_are_rotated_newest_first(tmp_path: Path) -> None:
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    sealed = vault(tmp_path, old).seal(KEPT)
    both = vault(tmp_path, f"{new}, {old}")
    assert both.open(sealed) == KEPT
    assert vault(tmp_path, new).open(both.seal(KEPT)) == KEPT
    with pytest.raises(EngineError, match="AD_ENCRYPTION_KEY"):
        vault(tmp_path, new).open(sealed)
    with pytest.raises(EngineError, match="not a Fernet key"):
        vault(tmp_path, "nonsense").seal(KEPT)
