"""Connected servers, over the wire: which there are, connecting one, logging in to it, ending a connection."""

import asyncio
import time
from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.assets import ActionKind, Connection, ConnectionStatus, ContentDef
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior

_LOOK_SECONDS = 0.5


class ServerSummary(Contract):
    """A server that can be connected; `own` when the user brought it."""

    server_name: str
    display_name: str
    transport: str
    auth_method: str
    status: str
    own: bool = False
    asks: tuple[str, ...] = ()


class ActionSummary(Contract):
    """An action of a connected server; models call it by `name`."""

    name: str
    action: str
    kind: ActionKind
    description: str
    input_schema: dict[str, Any]
    behavior: Behavior


class ActionList(Contract):
    actions: tuple[ActionSummary, ...]


class ContentList(Contract):
    contents: tuple[ContentDef, ...]


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

    async def actions(self, ref_id: str) -> tuple[ActionSummary, ...]:
        """What a connected server offers."""
        return (await self._wire.ask(ActionList, "GET", f"{_path(ref_id)}/actions")).actions

    async def contents(self, ref_id: str) -> tuple[ContentDef, ...]:
        """What a connected server has to read: its resources and prompts, one by one."""
        return (await self._wire.ask(ContentList, "GET", f"{_path(ref_id)}/contents")).contents

    async def login(self, ref_id: str) -> Connection:
        """A new page where a person logs in (`auth_url`)."""
        return await self._wire.ask(Connection, "POST", f"{_path(ref_id)}/login")

    async def wait_login(self, ref_id: str, *, seconds: float = 900.0) -> Connection:
        """The connection once somebody has logged in at its `auth_url`."""
        until = time.monotonic() + seconds
        while True:
            found = next((one for one in await self.connections() if one.ref_id == ref_id), None)
            if found is None:
                raise EngineError(ErrorCode.NOT_FOUND, f"There is no connection {ref_id!r}.", {"ref_id": ref_id})
            if found.status is not ConnectionStatus.PENDING_OAUTH:
                return found
            if time.monotonic() >= until:
                message = f"Nobody logged in to {found.server_name} within {seconds:g} seconds."
                raise EngineError(ErrorCode.MCP_TOKEN_EXPIRED, message, {"ref_id": ref_id})
            await asyncio.sleep(_LOOK_SECONDS)

    async def finish_login(
        self, state: str, *, code: str = "", iss: str | None = None, error: str = ""
    ) -> Connection:
        """Hand over what a login page sent a browser back with, where that comes back to your application."""
        body = {"state": state, "code": code, "iss": iss, "error": error}
        return await self._wire.ask(Connection, "POST", "/assets/callback", body=body)

    async def rotate_key(self) -> Rotation:
        """Store all credentials under the newest key; for the operator."""
        return await self._wire.ask(Rotation, "POST", "/assets/rotate-key")

    async def disconnect(self, ref_id: str) -> Connection:
        """End a connection; its credentials are deleted."""
        return await self._wire.ask(Connection, "DELETE", _path(ref_id))


def _path(ref_id: str) -> str:
    return f"/assets/connections/{quote(ref_id, safe='')}"
