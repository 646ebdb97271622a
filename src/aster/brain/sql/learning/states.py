"""Words that learning goes by for each user."""

from aster.brain.sql.connection import Connection


def state(db: Connection, user_id: str, name: str) -> str | None:
    query = "SELECT value FROM learning_states WHERE user_id = ? AND name = ?"
    found = db.execute(query, (user_id, name)).fetchone()
    return None if found is None else str(found[0])


def keep(db: Connection, user_id: str, name: str, value: str, now: int) -> None:
    db.execute(
        "INSERT INTO learning_states (user_id, name, value, updated_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        (user_id, name, value, now),
    )
