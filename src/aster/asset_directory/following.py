"""Following what other replicas do to users' connections: what was made there is known here, what was ended there ends.

A session goes on as long as its connection is the same; one whose server or credentials were replaced is left, and the
next call opens another.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from aster.asset_directory.held import Held, Holdings
from aster.asset_directory.vault import Vault

AT_ONCE: Final = 8
Users = dict[str, Holdings | None]


class Following:
    """`read` is what the brain knows of a user's connections; `changing` is held by who changes them."""

    def __init__(
        self,
        vault: Vault,
        connected: Callable[[], Awaitable[list[str]]],
        read: Callable[[str], Awaitable[Holdings]],
        changing: Callable[[str], asyncio.Lock],
    ) -> None:
        self._vault = vault
        self._connected = connected
        self._read = read
        self._changing = changing

    async def follow(self, users: Users) -> None:
        """Bring what is known of users up to date; who has connected since is known from now on."""
        connected = set(await self._connected())
        known = {user_id for user_id, holdings in users.items() if holdings is not None or user_id not in connected}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(user_id: str) -> None:
            async with room, self._changing(user_id):
                await self._bring(users, user_id)

        await asyncio.gather(*(one(user_id) for user_id in known | (connected - users.keys())))

    async def _bring(self, users: Users, user_id: str) -> None:
        found = await self._read(user_id)
        holdings = users.get(user_id) or Holdings()
        for name, held in list(holdings.held.items()):
            if name not in found.held or found.held[name].row.ref_id != held.row.ref_id:
                del holdings.held[name]
                holdings.version += 1
                self._vault.forget(user_id, held.row.ref_id)
                if held.link is not None:
                    await held.link.close()
        for name, new in found.held.items():
            held = holdings.held.get(name)
            if held is None:
                holdings.held[name] = new
                holdings.version += 1
            elif _updated(held, new):
                holdings.version += 1
        if holdings.held:
            users[user_id] = holdings
        else:
            users.pop(user_id, None)


def _updated(held: Held, new: Held) -> bool:
    """Take over what is new; whether that changes what can be called."""
    replaced = held.row.credentials != new.row.credentials and held.server.auth_method != "oauth"
    if held.link is not None and (replaced or held.server != new.server):
        held.link.lose()
    changed = (held.server, held.actions) != (new.server, new.actions)
    held.row, held.server, held.own, held.actions = new.row, new.server, new.own, new.actions
    return changed
