"""Rows about MCP servers: those that users brought, their connections, and what the servers offer them."""

from typing import ClassVar, NamedTuple

from aster.brain.records import Row


class ServerRow(Row):
    """A server of a user's own."""

    table: ClassVar[str] = "server_registry"
    key: ClassVar[tuple[str, ...]] = ("user_id", "server_name")

    user_id: str
    server_name: str
    config: bytes
    created_at: int


class ConnectionRow(Row):
    """A user's connection to a server; `credentials` are encrypted, and None where there are none."""

    table: ClassVar[str] = "connections"
    key: ClassVar[tuple[str, ...]] = ("ref_id",)

    ref_id: str
    user_id: str
    server_name: str
    status: str
    scopes: bytes
    created_at: int
    updated_at: int
    credentials: bytes | None = None
    reason: str | None = None
    expires_at: int | None = None


class ActionsRow(Row):
    """Everything a server offered a user when it was last asked."""

    table: ClassVar[str] = "action_registry"
    key: ClassVar[tuple[str, ...]] = ("user_id", "server_name")

    user_id: str
    server_name: str
    actions: bytes
    updated_at: int


class LoginRow(Row):
    """A login that was begun; `sealed` is encrypted, and the word it comes back with is known by its hash alone."""

    table: ClassVar[str] = "logins"
    key: ClassVar[tuple[str, ...]] = ("state_hash",)

    state_hash: str
    user_id: str
    server_name: str
    sealed: bytes
    created_at: int
    expires_at: int


class Sealed(NamedTuple):
    """A connection's credentials as they are stored."""

    user_id: str
    ref_id: str
    credentials: bytes
