"""The register: which MCP servers there are, and what each user holds of them, as files and the brain say it.

The operator's servers come from files, a user's own from the brain. What a user holds is read when it is first needed
and kept, with the sessions that belong to it; what other replicas change is followed.
"""

import asyncio
from weakref import WeakValueDictionary

from aster.asset_directory.following import Following
from aster.asset_directory.held import Held, Holdings
from aster.asset_directory.server_file import read_servers
from aster.asset_directory.vault import Vault
from aster.brain.protocol import Brain
from aster.contracts.assets import ActionDef, Connection, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode
from aster.infra.settings import Settings


class Register:
    def __init__(self, settings: Settings, brain: Brain, vault: Vault) -> None:
        self._settings = settings
        self._brain = brain
        self._vault = vault
        self._servers: dict[str, ServerConfigPayload] = {}
        self._users: dict[str, Holdings | None] = {}
        self._changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._following = Following(vault, brain.connected_users, self._read, self.changing)

    async def start(self) -> None:
        await self.reload()
        self._users = dict.fromkeys(await self._brain.connected_users())

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

    async def look_again(self) -> None:
        """Another replica has changed what users are connected to."""
        await self._following.follow(self._users)

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
        found = await self._read(user_id)
        if found.held:
            found = self._users[user_id] = self._users.get(user_id) or found
        return found

    async def held(self, user_id: str, server_name: str) -> Held | None:
        """A user's connection to a server, also one that was made elsewhere since."""
        holdings = await self.look_up(user_id)
        if server_name not in holdings.held:
            made = (await self._read(user_id)).held.get(server_name)
            if made is not None and server_name not in holdings.held:
                self.hold(user_id, made)
        return (await self.look_up(user_id)).held.get(server_name)

    async def find(self, user_id: str, ref_id: str) -> Held:
        """A user's connection by its id."""
        holdings = await self.look_up(user_id)
        for held in holdings.held.values():
            if held.row.ref_id == ref_id:
                return held
        raise EngineError(
            ErrorCode.NOT_FOUND, "You have no connection of that id. GET /assets/connections lists them."
        )

    def hold(self, user_id: str, held: Held) -> None:
        holdings = self._users.get(user_id) or Holdings()
        holdings.held[held.server.server_name] = held
        holdings.version += 1
        self._users[user_id] = holdings

    def changing(self, user_id: str) -> asyncio.Lock:
        """Who changes a user's connections holds this meanwhile."""
        return self._changing.setdefault(user_id, asyncio.Lock())

    async def _read(self, user_id: str) -> Holdings:
        """What the brain knows of a user's connections."""
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
        return found

    async def servers(self, user_id: str) -> list[tuple[ServerConfigPayload, bool]]:
        """Every server a user can connect to, each with whether it is the user's own."""
        holdings = await self.look_up(user_id)
        own = [held.server for held in holdings.held.values() if held.own]
        return [*((server, False) for server in self._servers.values()), *((server, True) for server in own)]

    async def connections(self, user_id: str) -> list[Connection]:
        return [held.shown for held in (await self.look_up(user_id)).held.values()]
