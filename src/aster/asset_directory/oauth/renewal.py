"""Tokens that are good now: those that are kept, or the next ones, fetched before the old ones end.

Whoever finds that it is time says so on the stored row first (compare-and-set), so that one fetches for all, in this
process and in every other; a refresh token that can be used once is used once. The others wait and read.
"""

import asyncio
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from aster.asset_directory.credentials import NeedsLogin
from aster.asset_directory.held import Held
from aster.asset_directory.oauth import token_endpoint
from aster.asset_directory.oauth.login import Client, Login
from aster.asset_directory.oauth.wire import Wire
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.brain.protocol import Brain
from aster.contracts.assets import ConnectionStatus
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.infra.clock import now_ms
from aster.infra.settings import Settings

_CLAIM_MS: Final = 30_000
_LOOK_SECONDS: Final = 0.1
_UNKNOWN_CLIENT: Final = frozenset(("invalid_client", "unauthorized_client"))


class Renewal:
    def __init__(self, settings: Settings, brain: Brain, vault: Vault) -> None:
        self._settings = settings
        self._brain = brain
        self._vault = vault
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._work: set[asyncio.Task[str]] = set()

    async def token(self, held: Held, refused: str = "") -> str:
        """A token for the server, another than the one it has refused; raises `NeedsLogin` when there is none."""
        login = self.login(held)
        if login is not None and _good(login, refused):
            return login.access_token
        # A renewal that was begun is finished: the old tokens may be worth nothing any more.
        task = asyncio.create_task(self._fetch(held, refused), name=f"mcp login {held.server.server_name}")
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return await asyncio.shield(task)

    def login(self, held: Held) -> Login | None:
        """The login of a connection, if it is for the address that the server has."""
        login = self._vault.open(held.row.credentials).login
        return login if login is not None and login.place.url == held.server.url else None

    async def close(self) -> None:
        await asyncio.gather(*self._work, return_exceptions=True)

    async def revoke(self, held: Held) -> None:
        """Have the tokens withdrawn where they came from, if that can be asked for."""
        login = self.login(held)
        if login is not None and login.access_token:
            await token_endpoint.revoke(self._wire(held), login)

    async def _fetch(self, held: Held, refused: str) -> str:
        async with self._turns.setdefault(held.row.ref_id, asyncio.Lock()):
            while True:
                await self._look(held)
                login = self.login(held)
                if login is None or not login.access_token:
                    raise NeedsLogin
                if _good(login, refused):
                    return login.access_token
                lasts = _lasts(login, refused)
                if login.refresh_token is None:
                    if lasts:
                        return login.access_token
                    raise NeedsLogin
                if login.renewing_until > now_ms():
                    if lasts:
                        return login.access_token
                    await asyncio.sleep(_LOOK_SECONDS)
                    continue
                claim = msgspec.structs.replace(login, renewing_until=now_ms() + _CLAIM_MS)
                claimed = await self._kept(held, held.row, claim, held.row.status)
                renewed = None if claimed is None else await self._renew(held, claimed, login, refused)
                if renewed is not None:
                    # Whatever they are worth: who gives out useless tokens is not asked for others again and again.
                    if renewed == refused:
                        raise NeedsLogin
                    return renewed

    async def _renew(self, held: Held, claimed: ConnectionRow, login: Login, refused: str) -> str | None:
        """Put the next tokens into the place of these, or take these away if there will be no next ones; the token to
        use now. None if that has to be looked at again: the tokens of a person who has logged in meanwhile stay."""
        try:
            renewed = await token_endpoint.renew(self._wire(held), login)
        except token_endpoint.Denied as denied:
            client = Client(client_id="") if denied.word in _UNKNOWN_CLIENT else login.client
            gone = Login(place=login.place, client=client, scopes=login.scopes)
            if await self._kept(held, claimed, gone, ConnectionStatus.EXPIRED) is None:
                return None
            raise NeedsLogin from denied
        except token_endpoint.Unclear as unclear:
            postponed = None if login.renew_at is None else now_ms() + _CLAIM_MS
            await self._kept(held, claimed, msgspec.structs.replace(login, renew_at=postponed), claimed.status)
            if _lasts(login, refused):
                return None
            raise EngineError(
                ErrorCode.MCP_CONNECTION_FAILED,
                f"The login to the server {held.server.server_name!r} could not be renewed: {unclear}",
            ) from unclear
        kept = await self._kept(held, claimed, renewed, ConnectionStatus.CONNECTED)
        return None if kept is None else renewed.access_token

    async def _kept(self, held: Held, before: ConnectionRow, login: Login, status: str) -> ConnectionRow | None:
        """Store a login where the one lies that was read; None if that is not there any more."""
        row = msgspec.structs.replace(
            before,
            credentials=self._vault.seal(Kept(login=login)),
            status=status,
            scopes=encode(list(login.scopes)),
            expires_at=login.expires_at,
            updated_at=now_ms(),
        )
        if not await self._brain.swap_connection(row, before.credentials):
            return None
        held.row = row
        self._vault.learn(row)
        return row

    async def _look(self, held: Held) -> None:
        """See what others have made of the connection since."""
        found = await self._brain.connections(held.row.user_id)
        row = next((row for row in found if row.ref_id == held.row.ref_id), None)
        if row is None:
            raise NeedsLogin
        if row != held.row:
            held.row = row
            self._vault.learn(row)

    def _wire(self, held: Held) -> Wire:
        return Wire(self._settings, held.server, own=held.own)


def _good(login: Login, refused: str) -> bool:
    return _lasts(login, refused) and (login.renew_at is None or now_ms() < login.renew_at)


def _lasts(login: Login, refused: str) -> bool:
    """Whether a token may still be used, also when it is time for the next."""
    ended = login.expires_at is not None and now_ms() >= login.expires_at
    return bool(login.access_token) and login.access_token != refused and not ended
