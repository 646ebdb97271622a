"""The asset directory: connecting users to MCP servers, and the calls made there.

Everything is a user's own: connections, credentials, sessions and what a server offered. A session is opened by the
first call that needs it and shared by the user's calls until it is idle for long.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aster.asset_directory import opening
from aster.asset_directory.actions import offered, unknown
from aster.asset_directory.asking import Caller
from aster.asset_directory.credentials import Credentials, NeedsLogin, check_login
from aster.asset_directory.desk import LoginDesk
from aster.asset_directory.held import Held
from aster.asset_directory.oauth.logins import Logins
from aster.asset_directory.oauth.renewal import Renewal
from aster.asset_directory.register import Register
from aster.asset_directory.rotation import Rotation, rotate
from aster.asset_directory.server_file import meant
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ActionsRow, ConnectionRow, ServerRow
from aster.brain.protocol import Brain
from aster.contracts.assets import ActionDef, Connection, ConnectionStatus, ContentDef, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import AssetState
from aster.contracts.model import encode
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.workspaces import Workspaces

if TYPE_CHECKING:
    from aster.asset_directory.exchange import Exchange
    from aster.asset_directory.link import Link

MOST_CONNECTIONS: Final = 50
_SWEEP_SECONDS: Final = 30.0
_REVOKE_SECONDS: Final = 5.0
Announce = Callable[[AssetState], None]


class AssetDirectory(Register):
    def __init__(
        self,
        settings: Settings,
        brain: Brain,
        sandbox: Sandbox,
        workspaces: Workspaces,
        vault: Vault,
        credentials: Credentials,
    ) -> None:
        super().__init__(settings, brain, vault)
        self._renewal = Renewal(settings, brain, vault)
        self._way = opening.Way(settings, sandbox, workspaces, credentials, self._renewal)
        self.desk = LoginDesk(self, brain, vault, Logins(settings, brain, vault, credentials), self._renewal)
        self._rotating = asyncio.Lock()
        self._work: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await super().start()
        self._sweeper = asyncio.create_task(self._sweep(), name="mcp sweep")

    async def close(self) -> None:
        for task in (*self._work, *([self._sweeper] if self._sweeper else [])):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        links = [held.link for user in self._users.values() if user for held in user.held.values() if held.link]
        await asyncio.gather(*(link.close() for link in links), return_exceptions=True)
        await self._renewal.close()

    async def connect(
        self, user_id: str, server_name: str, config: ServerConfigPayload | None = None, kept: Kept | None = None
    ) -> Connection:
        """Connect a user to a server and ask what it offers; nothing is kept of an attempt that fails."""
        async with self.changing(user_id):
            return await self._connect(user_id, server_name, config, kept)

    async def _connect(
        self, user_id: str, server_name: str, config: ServerConfigPayload | None, kept: Kept | None
    ) -> Connection:
        holdings = await self.look_up(user_id)
        server = meant(self._servers, server_name, config, own_allowed=self._settings.mcp_user_servers)
        before = holdings.held.get(server_name)
        if before is None and len(holdings.held) >= MOST_CONNECTIONS:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"There are {MOST_CONNECTIONS} connections already; end one of them first.",
            )
        check_login(server, kept)
        if server.auth_method == "oauth":
            return await self.desk.connect(user_id, server, own=config is not None)
        now = now_ms()
        row = ConnectionRow(
            ref_id=before.row.ref_id if before else new_id("conn"),
            user_id=user_id,
            server_name=server_name,
            status=ConnectionStatus.CONNECTED,
            scopes=encode(list(server.scopes)),
            credentials=self._vault.seal(kept) if kept is not None else None,
            created_at=before.row.created_at if before else now,
            updated_at=now,
        )
        held = Held(row, server, own=config is not None)
        rows = [ServerRow(user_id=user_id, server_name=server_name, config=encode(server), created_at=now)]
        try:
            await self.open(user_id, held)
            if kept is not None:  # the key may have been changed since
                row = held.row = msgspec.structs.replace(row, credentials=self._vault.seal(kept))
            await self._brain.put(row, self._offers(user_id, held), *(rows if held.own else ()))
        except BaseException:
            if held.link is not None:
                await held.link.close()
            raise
        self.hold(user_id, held)
        self._vault.learn(row)
        if before is not None and before.link is not None:
            await before.link.close()
        return held.shown

    async def disconnect(self, user_id: str, ref_id: str) -> Connection:
        """End a connection and forget its credentials and what the server offered."""
        async with self.changing(user_id):
            return await self._disconnect(user_id, ref_id)

    async def _disconnect(self, user_id: str, ref_id: str) -> Connection:
        held = await self.find(user_id, ref_id)
        holdings = await self.look_up(user_id)
        await self._brain.drop_connection(user_id, held.row.server_name)
        del holdings.held[held.row.server_name]
        holdings.version += 1
        if not holdings.held:
            self._users.pop(user_id, None)
        self._vault.forget(user_id, ref_id)
        if held.link is not None:
            await held.link.close()
        with contextlib.suppress(EngineError, TimeoutError):
            async with asyncio.timeout(_REVOKE_SECONDS):
                await self._renewal.revoke(held)
        return msgspec.structs.replace(held.shown, status=ConnectionStatus.DISCONNECTED)

    async def rotate_key(self) -> Rotation:
        """Store all credentials under the newest key."""
        async with self._rotating:
            done = await rotate(self._brain, self._vault)
        for user_id, holdings in list(self._users.items()):
            rows = {row.ref_id: row for row in await self._brain.connections(user_id)} if holdings else {}
            for held in holdings.held.values() if holdings else ():
                held.row = rows.get(held.row.ref_id, held.row)
        return done

    async def begin(
        self, user_id: str, action: ActionDef, given: dict[str, Any], caller: Caller, key: str, announce: Announce
    ) -> "Exchange":
        """Begin a call of what was approved, and of nothing that has taken its place since."""
        link = await self._ready(user_id, action, announce)
        from aster.asset_directory.exchange import Exchange

        link.exchanges = {old: one for old, one in link.exchanges.items() if not one.over}
        exchange = link.exchanges[key] = Exchange(link, action, given, caller)
        return exchange

    def parked(self, user_id: str, server_name: str, key: str) -> "Exchange | None":
        """A call that waits for an answer, if it still does."""
        holdings = self._users.get(user_id)
        held = holdings.held.get(server_name) if holdings else None
        exchange = held.link.exchanges.get(key) if held and held.link and held.link.alive else None
        return None if exchange is None or exchange.over else exchange

    def calling(self, user_id: str | None = None) -> set[tuple[str, str]]:
        """The turns that have begun calls here, each with its user: those of one user, or of all."""
        users = self._users.items() if user_id is None else ((user_id, self._users.get(user_id)),)
        links = ((name, held.link) for name, user in users if user for held in user.held.values() if held.link)
        return {(name, key.partition(":")[0]) for name, link in links for key in link.exchanges}

    async def abandon(self, user_id: str, prefix: str) -> None:
        """Cancel the calls of a user whose keys begin like this: nobody will come back for them."""
        holdings = self._users.get(user_id)
        for held in holdings.held.values() if holdings else ():
            exchanges = held.link.exchanges if held.link is not None else {}
            for key in [key for key in exchanges if key.startswith(prefix)]:
                await exchanges.pop(key).cancel()

    async def finished(self, user_id: str, exchange: "Exchange", key: str, announce: Announce) -> None:
        """A call came to its outcome. A server that fails in its calls is left alone as one out of reach is."""
        link = exchange.link
        link.used = asyncio.get_running_loop().time()
        link.exchanges.pop(key, None)
        if exchange.failed:
            link.breaker.failed(probe=link.breaker.state != "closed")
        else:
            link.breaker.succeeded(probe=True)
        holdings = self._users.get(user_id)
        held = holdings.held.get(link.server.server_name) if holdings else None
        login = link.server.auth_method == "oauth"
        if held is not None and (exchange.refused if login else held.refused):
            error = await self._refusal(user_id, held)
            announce(_state(held, "needs_auth", error.message))
            raise error

    async def _ready(self, user_id: str, action: ActionDef, announce: Announce) -> "Link":
        holdings = await self.look_up(user_id)
        held = holdings.held.get(action.server_name)
        if held is None:
            raise EngineError(
                ErrorCode.MCP_CONNECTION_FAILED,
                f"The server {action.server_name!r} is not connected any more; connect it with POST /assets/connect.",
            )
        was = held.link
        try:
            link = await self.open(user_id, held)
        except EngineError as error:
            expired = error.code is ErrorCode.MCP_TOKEN_EXPIRED
            announce(_state(held, "needs_auth" if expired else "failed", error.message))
            raise
        if link is not was:
            if holdings.held.get(action.server_name) is held:
                self._vault.learn(held.row)
            announce(_state(held, "connected"))
        now = next((one for one in held.actions if one.action == action.action), None)
        if now is None:
            raise unknown(action.name)
        if now.pin != action.pin:
            raise EngineError(
                ErrorCode.MCP_CONNECTION_FAILED,
                f"The server describes {action.name} differently now than when it was allowed; look at it again.",
            )
        return link

    async def open(self, user_id: str, held: Held, *, asked: bool = False) -> "Link":
        """The session with a server: the one there is, or a new one, if the server is not to be left alone. With
        `asked` it is asked again what it offers."""
        async with held.opening:
            if held.link is not None and held.link.alive:
                if asked:
                    await self._ask(user_id, held, held.link)
                return held.link
            wait = held.breaker.wait()
            if wait > 0:
                raise EngineError(
                    ErrorCode.MCP_CONNECTION_FAILED,
                    f"The server {held.server.server_name!r} failed several times; it is tried again in {wait:.0f} s.",
                )
            probe = held.breaker.admit()
            held.refused = False
            await asyncio.to_thread(import_module, "aster.asset_directory.link")
            try:
                held.link = await self._way.open(user_id, held, lambda: self._changed(user_id, held))
                await self._ask(user_id, held, held.link)
            except Exception as error:  # whatever a server or the way to it can do wrong
                if held.link is not None:
                    await held.link.close()
                    held.link = None
                if held.refused:
                    held.breaker.dismissed(probe)
                    raise await self._refusal(user_id, held) from error
                held.breaker.failed(probe)
                hidden = partial(self._vault.hidden, held.row)
                raise opening.failed(held.server, error, self._way.said(held), hidden) from error
            except BaseException:
                held.breaker.dismissed(probe)
                raise
            held.breaker.dismissed(probe)
            if held.row.status != ConnectionStatus.CONNECTED:
                row = msgspec.structs.replace(held.row, status=ConnectionStatus.CONNECTED, reason=None)
                await self.store(held, row)
            return held.link

    async def contents(self, user_id: str, ref_id: str) -> list[ContentDef]:
        """The resources and prompts of a connected server, as it tells them now."""
        held = await self.find(user_id, ref_id)
        link = await self.open(user_id, held)
        link.used = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(held.server.timeout_seconds):
                return await link.contents()
        except Exception as error:  # whatever a server or the way to it can do wrong
            hidden = partial(self._vault.hidden, held.row)
            raise opening.failed(held.server, error, self._way.said(held), hidden) from error

    async def store(self, held: Held, row: ConnectionRow) -> None:
        """Write down how a connection stands, unless somebody has changed its credentials since."""
        if await self._brain.swap_connection(row, held.row.credentials):
            held.row = row

    async def _refusal(self, user_id: str, held: Held) -> EngineError:
        """What to say when a server does not take a call from who asks; a login that allows too little goes on."""
        if held.wants:
            held.refused = False
            return opening.wants_more(held.server, held.wants)
        await self._expire(user_id, held)
        return opening.expired(held.server)

    async def _expire(self, user_id: str, held: Held) -> None:
        """The credentials are not accepted any more: say so to whoever looks, and begin anew when they are replaced."""
        held.refused = False
        login = held.server.auth_method == "oauth"
        if held.link is not None and not (login and held.link.busy):  # calls under way there were accepted
            held.link.lose()
        holdings = self._users.get(user_id)
        pending = held.row.status == ConnectionStatus.PENDING_OAUTH
        if pending or holdings is None or holdings.held.get(held.server.server_name) is not held:
            return
        reason = "The login has ended; log in again." if login else "The server does not accept the credentials."
        await self.store(held, msgspec.structs.replace(held.row, status=ConnectionStatus.EXPIRED, reason=reason))

    async def _ask(self, user_id: str, held: Held, link: "Link") -> None:
        """Ask a server what it offers, and note it if that has changed."""
        async with asyncio.timeout(held.server.timeout_seconds):
            offer = await asyncio.to_thread(offered, held.server.server_name, await link.listed())
        held.problems = (*link.left_out, *offer.problems)
        if offer.actions == held.actions:
            return
        held.actions = offer.actions
        holdings = self._users.get(user_id)
        if holdings is not None and holdings.held.get(held.server.server_name) is held:
            holdings.version += 1
            await self._brain.put(self._offers(user_id, held))

    def _changed(self, user_id: str, held: Held) -> None:
        """A server says that it offers something else now; it is asked when there is time."""
        link = held.link
        if link is None or len(self._work) > MOST_CONNECTIONS:
            return

        async def again() -> None:
            with contextlib.suppress(Exception):
                await self._ask(user_id, held, link)

        self._later(again(), f"mcp list {held.server.server_name}")

    def _later(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _renewed(self, held: Held) -> None:
        """Fetch new tokens for a session before the old ones end, if it is time."""
        with contextlib.suppress(NeedsLogin, EngineError):
            await self._renewal.token(held)

    async def _sweep(self) -> None:
        """End sessions nobody has used for a while, and keep the logins of the others alive."""
        idle = self._settings.mcp_idle_seconds
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, idle))
            now = asyncio.get_running_loop().time()
            for user in list(self._users.values()):
                for held in list(user.held.values()) if user else []:
                    link = held.link
                    if link is not None and not link.busy and now - link.used > idle:
                        held.link = None
                        await link.close()
                    elif link is not None and held.server.auth_method == "oauth":
                        self._later(self._renewed(held), f"mcp renew {held.server.server_name}")

    def _offers(self, user_id: str, held: Held) -> ActionsRow:
        name = held.server.server_name
        return ActionsRow(
            user_id=user_id, server_name=name, actions=encode(list(held.actions)), updated_at=now_ms()
        )


def _state(held: Held, status: Any, reason: str | None = None) -> AssetState:
    return AssetState(server_name=held.server.server_name, status=status, tools=len(held.actions), reason=reason)
