"""A user's skills: reading all of them, and taking one away."""

from aster.brain.skills import SkillRow
from aster.brain.sql.connection import Connection

_COLUMNS = ", ".join(SkillRow.__struct_fields__)


def skills(db: Connection, user_id: str) -> list[SkillRow]:
    found = db.execute(f"SELECT {_COLUMNS} FROM skills WHERE user_id = ? ORDER BY name", (user_id,))
    return [SkillRow(**dict(zip(SkillRow.__struct_fields__, row, strict=True))) for row in found]


def drop_skill(db: Connection, user_id: str, name: str) -> bool:
    return db.execute("DELETE FROM skills WHERE user_id = ? AND name = ?", (user_id, name)).rowcount > 0
