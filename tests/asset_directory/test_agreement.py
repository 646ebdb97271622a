"""One key for all replicas: a replica with another does not start, and without one stores nothing."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from aster.asset_directory.agreement import agree
from aster.asset_directory.vault import Kept, Vault
from aster.brain.postgres.brain import PostgresBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.testing import ModelServer
from tests.live import live


def vault(database_url: str, key: str | None) -> Vault:
    given = {"database_url": database_url, **({"ad_encryption_key": key} if key else {})}
    return Vault(Settings.model_validate(given), Secrets())


async def test_replicas_agree_on_a_key(model: ModelServer, database_url: str, tmp_path: Path) -> None:
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    brain = PostgresBrain(database_url)
    await brain.start()
    await agree(brain, vault(database_url, old))
    await agree(brain, vault(database_url, old))
    with pytest.raises(EngineError, match="is not the key that the other replicas") as refused:
        async with live(model, database_url=database_url, ad_encryption_key=new):
            pass
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    await agree(brain, vault(database_url, f"{new},{old}"))
    await agree(brain, vault(database_url, new))
    with pytest.raises(EngineError):
        await agree(brain, vault(database_url, old))
    await brain.close()


def test_a_replica_makes_no_key_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="Set AD_ENCRYPTION_KEY"):
        vault("postgresql://db/aster", None).seal(Kept(headers={"Authorization": "Bearer x"}))
