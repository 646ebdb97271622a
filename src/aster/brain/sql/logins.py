"""Logins to MCP servers: begun, taken once by whoever comes back, and the credentials they end in.

Credentials are changed by compare-and-set alone: what somebody else has stored since is never overwritten.
"""

from aster.brain.assets import ConnectionRow, LoginRow, Sealed
from aster.brain.sql.connection import Connection

MOST_OPEN = 20
_LOGIN = ", ".join(LoginRow.__struct_fields__)


def logins(db: Connection, user_id: str, server_name: str, after: int) -> list[LoginRow]:
    """A user's open logins to a server that last until after a time, newest first."""
    sql = (
        f"SELECT {_LOGIN} FROM logins WHERE user_id = ? AND server_name = ? AND expires_at > ?"
        " ORDER BY created_at DESC, state_hash"
    )
    return [_login(row) for row in db.execute(sql, (user_id, server_name, after))]


def keep(db: Connection, row: LoginRow, now: int) -> None:
    """Remember a login that was begun, and forget those that are too old or too many."""
    db.execute("DELETE FROM logins WHERE expires_at <= ?", (now,))
    open_ones = logins(db, row.user_id, row.server_name, now)
    for old in open_ones[MOST_OPEN - 1 :]:
        db.execute("DELETE FROM logins WHERE user_id = ? AND state_hash = ?", (row.user_id, old.state_hash))
    marks = ", ".join("?" * len(LoginRow.__struct_fields__))
    values = [getattr(row, name) for name in LoginRow.__struct_fields__]
    db.execute(f"INSERT INTO logins ({_LOGIN}) VALUES ({marks})", values)


def begun(db: Connection, state_hash: str) -> bool:
    """Whether there is such a login: who makes a word up costs the writer nothing."""
    return db.execute("SELECT 1 FROM logins WHERE state_hash = ?", (state_hash,)).fetchone() is not None


def take(db: Connection, state_hash: str, now: int, user_id: str | None) -> LoginRow | None:
    """A login that is finished now: nobody finds it again. Who comes back from a login page is known by nothing but the
    word; where the user is known, it has to be that user's."""
    sql, given = "DELETE FROM logins WHERE state_hash = ? AND expires_at > ?", [state_hash, now]
    if user_id is not None:
        sql, given = f"{sql} AND user_id = ?", [*given, user_id]
    found = db.execute(f"{sql} RETURNING {_LOGIN}", given).fetchall()
    return _login(found[0]) if found else None


def users_asked(db: Connection, kind: str) -> list[str]:
    """Everybody who has not answered a request of this kind; asked once, at boot."""
    sql = "SELECT DISTINCT user_id FROM hitl_requests WHERE kind = ? AND status = 'pending'"
    return [row[0] for row in db.execute(sql, (kind,))]


def swap(db: Connection, row: ConnectionRow, before: bytes | None) -> bool:
    """Change a connection that still has the credentials from before."""
    known, given = ("credentials IS NULL", ()) if before is None else ("credentials = ?", (before,))
    now = (row.status, row.scopes, row.credentials, row.reason, row.expires_at, row.updated_at)
    done = db.execute(
        "UPDATE connections SET status = ?, scopes = ?, credentials = ?, reason = ?, expires_at = ?, updated_at = ?"
        f" WHERE user_id = ? AND ref_id = ? AND {known}",
        (*now, row.user_id, row.ref_id, *given),
    )
    return done.rowcount > 0


def sealed(db: Connection, after: str, limit: int) -> list[Sealed]:
    """Everybody's credentials, as they are stored, page by page; for whoever changes the key."""
    sql = (
        "SELECT user_id, ref_id, credentials FROM connections WHERE credentials IS NOT NULL AND ref_id > ?"
        " ORDER BY ref_id LIMIT ?"
    )
    return [Sealed(user_id, ref_id, bytes(data)) for user_id, ref_id, data in db.execute(sql, (after, limit))]


def reseal(db: Connection, old: Sealed, credentials: bytes) -> bool:
    """Store the same credentials under another key, unless they were changed meanwhile."""
    done = db.execute(
        "UPDATE connections SET credentials = ? WHERE user_id = ? AND ref_id = ? AND credentials = ?",
        (credentials, old.user_id, old.ref_id, old.credentials),
    )
    return done.rowcount > 0


def _login(row: tuple[object, ...]) -> LoginRow:
    return LoginRow(**dict(zip(LoginRow.__struct_fields__, row, strict=True)))  # pyright: ignore[reportArgumentType]
