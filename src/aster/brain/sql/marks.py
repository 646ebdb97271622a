"""Reading the marks, and setting one that nobody has set before."""

from aster.brain.marks import MarkRow
from aster.brain.sql.connection import Connection


def marks(db: Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, value FROM marks").fetchall())


def settle(db: Connection, row: MarkRow) -> str:
    """Set a mark unless there is one; what holds for all."""
    db.execute(
        "INSERT INTO marks (name, user_id, value, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        (row.name, row.user_id, row.value, row.updated_at),
    )
    return str(db.execute("SELECT value FROM marks WHERE name = ?", (row.name,)).fetchone()[0])
