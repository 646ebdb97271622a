"""The desk where people log in: connecting a server that wants a login, links for it, and what comes back.

A login takes the place of the one before in one step, and only on a connection that is still there; calls that are on
their way keep their session and go on with the new tokens.
"""

from typing import TYPE_CHECKING

import msgspec

from aster.asset_directory.held import Held
from aster.asset_directory.oauth.login import Login
from aster.asset_directory.oauth.logins import Logins, Returned
from aster.asset_directory.oauth.renewal import Renewal
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow, ServerRow
from aster.brain.protocol import Brain
from aster.contracts.assets import Connection, ConnectionStatus, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

if TYPE_CHECKING:
    from aster.asset_directory.directory import AssetDirectory


class LoginDesk:
    def __init__(
        self, directory: "AssetDirectory", brain: Brain, vault: Vault, logins: Logins, renewal: Renewal
    ) -> None:
        self._directory = directory
        self._brain = brain
        self._vault = vault
        self._logins = logins
        self._renewal = renewal

    async def connect(self, user_id: str, server: ServerConfigPayload, *, own: bool) -> Connection:
        """Connected, if the login there is still holds; otherwise where a person logs in. For the one who holds the
        lock on the user's connections."""
        before = await self._directory.held(user_id, server.server_name)
        known = None if before is None else self._renewal.login(before)
        if before is not None and before.server.url == server.url:
            if known is not None and known.access_token:
                try:
                    await self._directory.open(user_id, before)
                except EngineError as error:
                    if error.code is not ErrorCode.MCP_TOKEN_EXPIRED:
                        raise
                else:
                    return before.shown
            return await self._linked(user_id, before, anew=False)
        link = await self._logins.begin(user_id, server, own=own)
        held = await self._begun(user_id, server, before, own=own)
        return msgspec.structs.replace(held.shown, auth_url=link)

    async def link(self, user_id: str, ref_id: str) -> Connection:
        """A new link for a connection there is."""
        held = await self._directory.find(user_id, ref_id)
        if held.server.auth_method != "oauth":
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"The server {held.server.server_name!r} has no login; connect it again with POST /assets/connect.",
            )
        return await self._linked(user_id, held, anew=True)

    async def link_for(self, user_id: str, server_name: str) -> str:
        """Where a person logs in so that a call can go on."""
        held = await self._directory.held(user_id, server_name)
        if held is None:
            raise EngineError(
                ErrorCode.MCP_CONNECTION_FAILED,
                f"The server {server_name!r} is not connected any more; connect it with POST /assets/connect.",
            )
        connection = await self._linked(user_id, held, anew=False)
        assert connection.auth_url is not None, "a link was made"
        return connection.auth_url

    async def finish(self, returned: Returned, user_id: str | None = None) -> tuple[str, Connection]:
        """Take what a person's browser came back with: whose login it was, and the connection as it is now."""
        row = await self._logins.take(returned.state, user_id)
        held = await self._directory.held(row.user_id, row.server_name)
        if held is None or held.server.auth_method != "oauth":
            raise _gone()
        login = await self._logins.redeem(row, held.server, returned, own=held.own)
        async with self._directory.changing(row.user_id):
            held = await self._directory.held(row.user_id, row.server_name)
            if held is None or held.server.url != login.place.url or not await self._stored(held, login):
                raise _gone()
            return row.user_id, await self._opened(row.user_id, held)

    def document(self) -> dict[str, object]:
        return self._logins.document()

    async def _linked(self, user_id: str, held: Held, *, anew: bool) -> Connection:
        async with held.logging_in:
            known = self._renewal.login(held)
            link = await self._logins.begin(
                user_id, held.server, own=held.own, known=known, more=held.wants, anew=anew
            )
        return msgspec.structs.replace(held.shown, status=ConnectionStatus.PENDING_OAUTH, auth_url=link)

    async def _begun(self, user_id: str, server: ServerConfigPayload, before: Held | None, *, own: bool) -> Held:
        """A connection that waits for its first login."""
        now = now_ms()
        row = ConnectionRow(
            ref_id=before.row.ref_id if before else new_id("conn"),
            user_id=user_id,
            server_name=server.server_name,
            status=ConnectionStatus.PENDING_OAUTH,
            scopes=encode(list(server.scopes)),
            created_at=before.row.created_at if before else now,
            updated_at=now,
        )
        name = server.server_name
        own_server = ServerRow(user_id=user_id, server_name=name, config=encode(server), created_at=now)
        await self._brain.put(row, *((own_server,) if own else ()))
        held = Held(row, server, own=own)
        self._directory.hold(user_id, held)
        if before is not None and before.link is not None:
            await before.link.close()
        return held

    async def _stored(self, held: Held, login: Login) -> bool:
        """Put a login into the place of whatever is there now; false if there is no connection any more."""
        sealed = self._vault.seal(Kept(login=login))
        while True:
            found = await self._brain.connections(held.row.user_id)
            now = next((row for row in found if row.ref_id == held.row.ref_id), None)
            if now is None:
                return False
            row = msgspec.structs.replace(
                now,
                status=ConnectionStatus.CONNECTED,
                scopes=encode(list(login.scopes)),
                credentials=sealed,
                reason=None,
                expires_at=login.expires_at,
                updated_at=now_ms(),
            )
            if await self._brain.swap_connection(row, now.credentials):
                held.row, held.wants, held.refused = row, (), False
                self._vault.learn(row)
                return True

    async def _opened(self, user_id: str, held: Held) -> Connection:
        """Ask the server what it offers to who has logged in; the login is kept whatever it says."""
        try:
            await self._directory.open(user_id, held, asked=True)
        except EngineError as error:
            if error.code is not ErrorCode.MCP_TOKEN_EXPIRED:
                row = msgspec.structs.replace(held.row, status=ConnectionStatus.FAILED, reason=error.message)
                await self._directory.store(held, row)
        return held.shown


def _gone() -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        "The connection was ended or changed while you logged in. Connect the server again with POST /assets/connect.",
    )
