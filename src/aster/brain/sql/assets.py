"""MCP servers and connections: reading a user's, and taking one away with everything that belongs to it."""

from typing import Any

from aster.brain.assets import ActionsRow, ConnectionRow, ServerRow
from aster.brain.sql.connection import Connection

_SERVER = ", ".join(ServerRow.__struct_fields__)
_CONNECTION = ", ".join(ConnectionRow.__struct_fields__)
_ACTIONS = ", ".join(ActionsRow.__struct_fields__)


def servers(db: Connection, user_id: str) -> list[ServerRow]:
    sql = f"SELECT {_SERVER} FROM server_registry WHERE user_id = ? ORDER BY server_name"
    return [ServerRow(**_named(ServerRow.__struct_fields__, row)) for row in db.execute(sql, (user_id,))]


def connections(db: Connection, user_id: str) -> list[ConnectionRow]:
    sql = f"SELECT {_CONNECTION} FROM connections WHERE user_id = ? ORDER BY created_at, ref_id"
    return [ConnectionRow(**_named(ConnectionRow.__struct_fields__, row)) for row in db.execute(sql, (user_id,))]


def connected_users(db: Connection) -> list[str]:
    """Everybody who has a connection; asked once, at boot."""
    return [row[0] for row in db.execute("SELECT DISTINCT user_id FROM connections")]


def actions(db: Connection, user_id: str) -> list[ActionsRow]:
    sql = f"SELECT {_ACTIONS} FROM action_registry WHERE user_id = ? ORDER BY server_name"
    return [ActionsRow(**_named(ActionsRow.__struct_fields__, row)) for row in db.execute(sql, (user_id,))]


def drop_connection(db: Connection, user_id: str, server_name: str) -> bool:
    """The connection, its credentials and logins, what the server offered, and the server if it was the user's own."""
    gone = db.execute(
        "DELETE FROM connections WHERE user_id = ? AND server_name = ?", (user_id, server_name)
    ).rowcount
    for table in ("action_registry", "server_registry", "logins"):
        db.execute(f"DELETE FROM {table} WHERE user_id = ? AND server_name = ?", (user_id, server_name))
    return gone > 0


def _named(fields: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(fields, row, strict=True))
