"""Asset records: MCP servers, the connections to them, and the actions they offer."""

from enum import StrEnum
from typing import Any, Literal

from aster.contracts.model import Contract


class ConnectionStatus(StrEnum):
    CONNECTED = "connected"
    PENDING_OAUTH = "pending_oauth"
    EXPIRED = "expired"
    FAILED = "failed"
    DISCONNECTED = "disconnected"


class ServerConfigPayload(Contract):
    """How to reach a server."""

    server_name: str
    display_name: str
    transport: Literal["stdio", "http", "sse"]
    auth_method: Literal["none", "static", "oauth"] = "none"
    url: str | None = None
    command: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


class Connection(Contract):
    """A user's connection to a server; credentials are never part of it."""

    ref_id: str
    server_name: str
    status: ConnectionStatus
    scopes: tuple[str, ...] = ()
    expires_at: str | None = None


class ActionDef(Contract):
    """An action of a server: called `<server>.<action>` by the model."""

    server_name: str
    action: str
    description: str
    input_schema: dict[str, Any]
