"""The asset directory: which MCP servers there are, who is connected to which, and the calls made there.

Everything is a user's own: connections, credentials, sessions and what a server offered. The operator's servers come
from files, a user's from the brain. A session is opened by the first call that needs it and shared by the user's
calls until it is idle for long.
"""

import asyncio
import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import msgspec

from aster.asset_directory import opening
from aster.asset_directory.actions import offered, unknown
from aster.asset_directory.asking import Caller
from aster.asset_directory.credentials import Credentials, check_login
from aster.asset_directory.held import Held, Holdings
from aster.asset_directory.server_file import meant, read_servers
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ActionsRow, ConnectionRow, ServerRow
from aster.brain.protocol import Brain
from aster.contracts.assets import ActionDef, Connection, ConnectionStatus, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import AssetState
from aster.contracts.model import decode, encode
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
Announce = Callable[[AssetState], None]


class AssetDirectory:
    def __init__(
        self,
        settings: Settings,
        brain: Brain,
        sandbox: Sandbox,
        workspaces: Workspaces,
        vault: Vault,
        credentials: Credentials,
    ) -> None:
        self._settings = settings
        self._brain = brain
        self._vault = vault
        self._way = opening.Way(settings, sandbox, workspaces, credentials)
        self._servers: dict[str, ServerConfigPayload] = {}
        self._users: dict[str, Holdings | None] = {}
        self._changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._work: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.reload()
        self._users = dict.fromkeys(await self._brain.connected_users())
        self._sweeper = asyncio.create_task(self._sweep(), name="mcp sweep")

    async def close(self) -> None:
        for task in (*self._work, *([self._sweeper] if self._sweeper else [])):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        links = [held.link for user in self._users.values() if user for held in user.held.values() if held.link]
        await asyncio.gather(*(link.close() for link in links), return_exceptions=True)

    async def reload(self) -> None:
        """Read the operator's servers again; sessions with those that changed or went end."""
        place = self._settings.catalog_dir
        self._servers = {} if place is None else await asyncio.to_thread(read_servers, place / "mcp")
        for user in filter(None, self._users.values()):
            user.version += 1
            for name, held in list(user.held.items()):
                server = held.server if held.own else self._servers.get(name)
                if server != held.server and held.link is not None:
                    held.link.lose()
                if server is None:
                    del user.held[name]
                else:
                    held.server = server

    def server_names(self) -> frozenset[str]:
        return frozenset(self._servers)

    def holds(self, user_id: str) -> bool:
        """Whether a user is connected to anything; costs next to nothing."""
        return user_id in self._users

    def holdings(self, user_id: str) -> Holdings | None:
        """What a user holds, once it was looked up (`look_up`)."""
        return self._users.get(user_id)

    async def look_up(self, user_id: str) -> Holdings:
        """What a user holds, from the brain the first time."""
        known = self._users.get(user_id)
        if known is not None:
            return known
        own = {
            row.server_name: decode(row.config, ServerConfigPayload) for row in await self._brain.servers(user_id)
        }
        actions = {row.server_name: row.actions for row in await self._brain.actions(user_id)}
        found = Holdings()
        for row in await self._brain.connections(user_id):
            if row.server_name in own and not self._settings.mcp_user_servers:
                continue
            server = own.get(row.server_name) or self._servers.get(row.server_name)
            if server is not None:
                offers = tuple(decode(actions.get(row.server_name, b"[]"), list[ActionDef]))
                found.held[row.server_name] = Held(row, server, own=row.server_name in own, actions=offers)
        if found.held:
            found = self._users[user_id] = self._users.get(user_id) or found
        return found

    async def servers(self, user_id: str) -> list[tuple[ServerConfigPayload, bool]]:
        """Every server a user can connect to, each with whether it is the user's own."""
        holdings = await self.look_up(user_id)
        own = [held.server for held in holdings.held.values() if held.own]
        return [*((server, False) for server in self._servers.values()), *((server, True) for server in own)]

    async def connections(self, user_id: str) -> list[Connection]:
        return [held.shown for held in (await self.look_up(user_id)).held.values()]

    async def connect(
        self, user_id: str, server_name: str, config: ServerConfigPayload | None = None, kept: Kept | None = None
    ) -> Connection:
        """Connect a user to a server and ask what it offers; nothing is kept of an attempt that fails."""
        async with self._changing.setdefault(user_id, asyncio.Lock()):
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
            await self._link(user_id, held)
            await self._brain.put(row, self._offers(user_id, held), *(rows if held.own else ()))
        except BaseException:
            if held.link is not None:
                await held.link.close()
            raise
        holdings.held[server_name] = held
        holdings.version += 1
        self._users[user_id] = holdings
        self._vault.learn(row)
        if before is not None and before.link is not None:
            await before.link.close()
        return held.shown

    async def disconnect(self, user_id: str, ref_id: str) -> Connection:
        """End a connection and forget its credentials and what the server offered."""
        async with self._changing.setdefault(user_id, asyncio.Lock()):
            return await self._disconnect(user_id, ref_id)

    async def _disconnect(self, user_id: str, ref_id: str) -> Connection:
        holdings = await self.look_up(user_id)
        held = next((held for held in holdings.held.values() if held.row.ref_id == ref_id), None)
        if held is None:
            raise EngineError(
                ErrorCode.NOT_FOUND, "You have no connection of that id. GET /assets/connections lists them."
            )
        await self._brain.drop_connection(user_id, held.row.server_name)
        del holdings.held[held.row.server_name]
        holdings.version += 1
        if not holdings.held:
            self._users.pop(user_id, None)
        self._vault.forget(user_id, ref_id)
        if held.link is not None:
            await held.link.close()
        return msgspec.structs.replace(held.shown, status=ConnectionStatus.DISCONNECTED)

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

    async def abandon(self, user_id: str, prefix: str) -> None:
        """Cancel the calls of a user whose keys begin like this: nobody will come back for them."""
        holdings = self._users.get(user_id)
        for held in holdings.held.values() if holdings else ():
            exchanges = held.link.exchanges if held.link is not None else {}
            for key in [key for key in exchanges if key.startswith(prefix)]:
                await exchanges.pop(key).cancel()

    async def finished(self, user_id: str, exchange: "Exchange", key: str) -> None:
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
        if held is not None and held.refused:
            await self._expire(user_id, held)
            raise opening.expired(held.server)

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
            link = await self._link(user_id, held)
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

    async def _link(self, user_id: str, held: Held) -> "Link":
        """The session with a server: the one there is, or a new one, if the server is not to be left alone."""
        async with held.opening:
            if held.link is not None and held.link.alive:
                return held.link
            wait = held.breaker.wait()
            if wait > 0:
                raise EngineError(
                    ErrorCode.MCP_CONNECTION_FAILED,
                    f"The server {held.server.server_name!r} failed several times; it is tried again in {wait:.0f} s.",
                )
            probe = held.breaker.admit()
            await asyncio.to_thread(import_module, "aster.asset_directory.link")
            try:
                held.link = await self._way.open(user_id, held, lambda: self._changed(user_id, held))
                await self._ask(user_id, held, held.link)
            except Exception as error:  # whatever a server or the way to it can do wrong
                held.breaker.failed(probe)
                if held.link is not None:
                    await held.link.close()
                    held.link = None
                if held.refused:
                    await self._expire(user_id, held)
                    raise opening.expired(held.server) from error
                raise opening.failed(held.server, error, self._way.said(held)) from error
            except BaseException:
                held.breaker.dismissed(probe)
                raise
            held.breaker.dismissed(probe)
            if held.row.status != ConnectionStatus.CONNECTED:
                held.row = msgspec.structs.replace(held.row, status=ConnectionStatus.CONNECTED, reason=None)
                await self._brain.put(held.row)
            return held.link

    async def _expire(self, user_id: str, held: Held) -> None:
        """The credentials are not accepted any more: say so to whoever looks, and begin anew when they are replaced."""
        held.refused = False
        if held.link is not None:
            held.link.lose()
        reason = "The server does not accept the credentials."
        held.row = msgspec.structs.replace(held.row, status=ConnectionStatus.EXPIRED, reason=reason)
        holdings = self._users.get(user_id)
        if holdings is not None and holdings.held.get(held.server.server_name) is held:
            await self._brain.put(held.row)

    async def _ask(self, user_id: str, held: Held, link: "Link") -> None:
        """Ask a server what it offers, and note it if that has changed."""
        async with asyncio.timeout(held.server.timeout_seconds):
            offer = await asyncio.to_thread(offered, held.server.server_name, await link.listed())
        held.problems = offer.problems
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

        task = asyncio.create_task(again(), name=f"mcp list {held.server.server_name}")
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _sweep(self) -> None:
        """End sessions nobody has used for a while."""
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

    def _offers(self, user_id: str, held: Held) -> ActionsRow:
        name = held.server.server_name
        return ActionsRow(
            user_id=user_id, server_name=name, actions=encode(list(held.actions)), updated_at=now_ms()
        )


def _state(held: Held, status: Any, reason: str | None = None) -> AssetState:
    return AssetState(server_name=held.server.server_name, status=status, tools=len(held.actions), reason=reason)
