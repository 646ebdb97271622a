"""Changing the key of the vault: every credential is stored again under the newest key, one by one.

It can be stopped at any moment and begun again: what is under the newest key already stays as it is, what somebody
changes meanwhile is written by them with the newest key anyway, and no key goes while something still needs it.
"""

from typing import Final

from aster.asset_directory.vault import Vault
from aster.brain.protocol import Brain
from aster.contracts.model import Contract

_PAGE: Final = 100


class Rotation(Contract):
    """How many credentials were stored again, were under the newest key already, and cannot be opened with any."""

    renewed: int = 0
    current: int = 0
    lost: int = 0


async def rotate(brain: Brain, vault: Vault) -> Rotation:
    """For one at a time: keys that another has just begun to use would be taken for old ones."""
    # Another replica would go on with the keys it has read.
    own_file = not brain.shared and vault.renew()
    done, renewed = Rotation(renewed=1), 0
    while done.renewed:  # what was on its way under an older key is there when everything is looked at again
        done = await _once(brain, vault)
        renewed += done.renewed
    if own_file and not done.lost:
        vault.retire()
    return Rotation(renewed=renewed, current=max(0, done.current - renewed), lost=done.lost)


async def _once(brain: Brain, vault: Vault) -> Rotation:
    renewed = current = lost = 0
    after = ""
    while page := await brain.sealed(after, _PAGE):
        for one in page:
            again = vault.relocked(one.credentials)
            if again is None:
                lost += 1
            elif again == one.credentials:
                current += 1
            else:
                await brain.reseal(one, again)
                renewed += 1
        after = page[-1].ref_id
    return Rotation(renewed=renewed, current=current, lost=lost)
