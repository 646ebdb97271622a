"""A user's skills: reading all of them, and taking one away."""

import sqlite3

from aster.brain.skills import SkillRow

_COLUMNS = ", ".join(SkillRow.__struct_fields__)


def skills(db: sqlite3.Connection, user_id: str) -> list[SkillRow]:
    found = db.execute(f"SELECT {_COLUMNS} FROM skills WHERE user_id = ? ORDER BY name", (user_id,))
    return [SkillRow(**dict(zip(SkillRow.__struct_fields__, row, strict=True))) for row in found]


def drop_skill(db: sqlite3.Connection, user_id: str, name: str) -> bool:
    return db.execute("DELETE FROM skills WHERE user_id = ? AND name = ?", (user_id, name)).rowcount > 0
