"""What a brain does about MCP servers: connections, what servers offer, and logins with the credentials they end in."""

from aster.brain.assets import ActionsRow, ConnectionRow, LoginRow, Sealed, ServerRow
from aster.brain.sql import assets, logins
from aster.brain.sql.running import Reads, Writes


class AssetBrain:
    _readers: Reads
    _writer: Writes

    async def servers(self, user_id: str) -> list[ServerRow]:
        return await self._readers.run(assets.servers, user_id)

    async def connections(self, user_id: str) -> list[ConnectionRow]:
        return await self._readers.run(assets.connections, user_id)

    async def connected_users(self) -> list[str]:
        return await self._readers.run(assets.connected_users)

    async def actions(self, user_id: str) -> list[ActionsRow]:
        return await self._readers.run(assets.actions, user_id)

    async def drop_connection(self, user_id: str, server_name: str) -> bool:
        return bool(await self._writer.run(lambda db: assets.drop_connection(db, user_id, server_name)))

    async def swap_connection(self, row: ConnectionRow, before: bytes | None) -> bool:
        return bool(await self._writer.run(lambda db: logins.swap(db, row, before)))

    async def logins(self, user_id: str, server_name: str, after: int) -> list[LoginRow]:
        return await self._readers.run(logins.logins, user_id, server_name, after)

    async def keep_login(self, row: LoginRow, now: int) -> None:
        await self._writer.run(lambda db: logins.keep(db, row, now))

    async def take_login(self, state_hash: str, now: int, user_id: str | None) -> LoginRow | None:
        if not await self._readers.run(logins.begun, state_hash):
            return None
        taken = await self._writer.run(lambda db: logins.take(db, state_hash, now, user_id))
        assert taken is None or isinstance(taken, LoginRow)
        return taken

    async def sealed(self, after: str, limit: int) -> list[Sealed]:
        return await self._readers.run(logins.sealed, after, limit)

    async def reseal(self, old: Sealed, credentials: bytes) -> bool:
        return bool(await self._writer.run(lambda db: logins.reseal(db, old, credentials)))

    async def users_asked(self, kind: str) -> list[str]:
        return await self._readers.run(logins.users_asked, kind)
