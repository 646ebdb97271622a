"""Rows about skills: those that users wrote, and those that their agents wrote for them."""

from typing import ClassVar

from aster.brain.records import Row


class SkillRow(Row):
    """A skill of a user's; `kind` is `custom` or `acquired`, `body` the rest of it as JSON."""

    table: ClassVar[str] = "skills"
    key: ClassVar[tuple[str, ...]] = ("user_id", "name")

    user_id: str
    name: str
    kind: str
    body: bytes
    created_at: int
    updated_at: int
