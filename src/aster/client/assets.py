"""Connected servers, over the wire: which there are, connecting one, ending a connection."""

from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.assets import Connection
from aster.contracts.model import Contract


class ServerSummary(Contract):
    """A server that can be connected; `own` when the user brought it."""

    server_name: str
    display_name: str
    transport: str
    auth_method: str
    status: str
    own: bool = False


class Rotation(Contract):
    """How many credentials were stored again, were under the newest key already, and cannot be opened."""

    renewed: int
    current: int
    lost: int


class AssetsClient:
    """The routes under `/assets`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def servers(self) -> list[ServerSummary]:
        return await self._wire.ask(list[ServerSummary], "GET", "/assets/servers")

    async def connections(self) -> list[Connection]:
        return await self._wire.ask(list[Connection], "GET", "/assets/connections")

    async def connect(
        self,
        server_name: str,
        *,
        server_config: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
    ) -> Connection:
        """Connect a server; its tools can be called from the next model call on."""
        body: dict[str, Any] = {"server_name": server_name, "server_config": server_config}
        if headers or environment:
            body["credentials"] = {"headers": headers or {}, "environment": environment or {}}
        return await self._wire.ask(Connection, "POST", "/assets/connect", body=body)

    async def login(self, ref_id: str) -> Connection:
        """A new page where a person logs in (`auth_url`)."""
        return await self._wire.ask(Connection, "POST", f"/assets/connections/{quote(ref_id, safe='')}/login")

    async def rotate_key(self) -> Rotation:
        """Store all credentials under the newest key; for the operator."""
        return await self._wire.ask(Rotation, "POST", "/assets/rotate-key")

    async def disconnect(self, ref_id: str) -> Connection:
        """End a connection; its credentials are deleted."""
        return await self._wire.ask(Connection, "DELETE", f"/assets/connections/{quote(ref_id, safe='')}")
