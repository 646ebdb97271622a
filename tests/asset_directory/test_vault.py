"""Credentials are sealed with the operator's key or one of the engine's own, and open only with a key that fits."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from aster.asset_directory.vault import KEY_FILE, MOST_OF_A_USER, Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.contracts.errors import EngineError
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings

KEPT = Kept(headers={"Authorization": "Bearer very-secret-token"}, environment={"KEY": "another-secret-value"})


def vault(tmp_path: Path, key: str | None = None, secrets: Secrets | None = None) -> Vault:
    settings = Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite", "ad_encryption_key": key})
    return Vault(settings, secrets or Secrets())


def row(sealed: bytes, ref_id: str = "conn-1", user_id: str = "u") -> ConnectionRow:
    return ConnectionRow(
        ref_id=ref_id,
        user_id=user_id,
        server_name="s",
        status="connected",
        scopes=b"[]",
        created_at=0,
        updated_at=0,
        credentials=sealed,
    )


def test_what_is_sealed_opens_again(tmp_path: Path) -> None:
    sealed = vault(tmp_path).seal(KEPT)
    assert b"secret" not in sealed
    assert vault(tmp_path).open(sealed) == KEPT
    assert vault(tmp_path).open(None) == Kept()


def test_credentials_are_secrets_while_their_connection_lasts(tmp_path: Path) -> None:
    process = Secrets()
    secrets = Secrets(parent=process)
    secrets.register("the-operators-key-1", "KEY")
    safe = vault(tmp_path, secrets=secrets)
    text = "Bearer ghp_4bT9xQ27Lm0 and the-operators-key-1"
    sealed = safe.seal(Kept(headers={"Authorization": "Bearer ghp_4bT9xQ27Lm0", "X-A": "the-operators-key-1"}))
    assert safe.open(sealed).headers
    assert "ghp_4bT9xQ27Lm0" in process.clean(text, "tool")
    safe.learn(row(sealed))
    safe.learn(row(sealed))
    safe.learn(row(sealed, "conn-2", "another"))
    safe.forget("u", "conn-1")
    for known in (process, secrets):
        assert known.clean(text, "tool") == "Bearer [redacted: credential] and [redacted: KEY]"
    safe.learn(row(safe.seal(Kept(headers={"X-B": "hQ8-zW41-bn55-Lk"})), "conn-2", "another"))
    for known in (process, secrets):
        assert known.clean(text, "tool") == "Bearer ghp_4bT9xQ27Lm0 and [redacted: KEY]"


@pytest.mark.parametrize(
    "value",
    [
        "function",
        "authorization",
        "you are a helpful assistant",
        "AssetDirectoryOfUsers",
        "application/json",
        "X_ENGINE_KEY_NAME",
        "2026-11-15 17:58",
        "a1a1a1a1a1a1a1a1",
        "Ab1Ab1Ab1",
    ],
)
def test_what_stands_in_anybodys_text_is_no_secret(tmp_path: Path, value: str) -> None:
    secrets = Secrets()
    safe = vault(tmp_path, secrets=secrets)
    safe.learn(row(safe.seal(Kept(headers={"X-A": value}))))
    assert secrets.clean(value, "tool") == value


def test_of_much_only_some_is_known(tmp_path: Path) -> None:
    secrets = Secrets()
    safe = vault(tmp_path, secrets=secrets)
    long = "".join(f"{number}aZ" for number in range(2000))
    safe.learn(row(safe.seal(Kept(headers={"X-A": long}))))
    shown = secrets.clean(long, "tool")
    assert len(long) - 128 < len(shown) < len(long)
    assert shown.startswith("[redacted: credential]")
    assert shown.endswith("[redacted: credential]")
    many = [f"kQ7-{number:04}-xW93-vT" for number in range(50)]
    for at, value in enumerate(many):
        safe.learn(row(safe.seal(Kept(environment={"A": value})), f"conn-{at}"))
    assert sum(secrets.clean(value, "tool") != value for value in many) == MOST_OF_A_USER
    safe.learn(row(safe.seal(Kept(environment={"A": many[-1]})), "conn-1", "another"))
    assert secrets.clean(many[-1], "tool") != many[-1]


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
