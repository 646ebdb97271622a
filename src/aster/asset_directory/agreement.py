"""Replicas share the credentials in the brain, so they have to share the key that opens them; one that differs is found
at the start, before it can store anything that the others cannot open."""

from typing import Final

from aster.asset_directory.vault import Vault
from aster.brain.marks import MarkRow
from aster.brain.protocol import Brain
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms

_MARK: Final = "vault key"


async def agree(brain: Brain, vault: Vault) -> None:
    """Go by the key that all have; refused with another. While keys are changed, any that is listed will do."""
    if not (brain.shared and vault.given):
        return
    offered = vault.lock(b"aster").decode()
    agreed = await brain.settle_mark(MarkRow(name=_MARK, value=offered, updated_at=now_ms()))
    newest = vault.relocked(agreed.encode())
    if newest is None:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            "AD_ENCRYPTION_KEY is not the key that the other replicas on this database have. Set the same everywhere;"
            " while it is being changed, list the new one and the old one, separated by a comma.",
            {"AD_ENCRYPTION_KEY": "differs from that of the other replicas"},
        )
    if newest.decode() != agreed:
        await brain.put(MarkRow(name=_MARK, value=newest.decode(), updated_at=now_ms()))
