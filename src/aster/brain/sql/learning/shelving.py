"""Skills that learning proposes, on the shelf of the person they are for: laid there with the changeset that proposes
them, usable once it is accepted, and gone when it is rejected or taken back.

A name that means something else by now is never touched: what a person decides about is what they were shown.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from aster.brain.skills import SkillRow
from aster.brain.sql.connection import Connection
from aster.contracts.learning import SUCH_AS, ChangeItem
from aster.contracts.model import encode

TAKEN: Final = "There is another skill of this name by now."
_KIND: Final = "composed"
_SAME: Final = ("parameters", "steps", "mode")
Status: TypeAlias = Literal["proposed", "approved"]


def shelve(db: Connection, user_id: str, item: ChangeItem, status: Status, now: int) -> bool:
    """Put the skill of an item on the shelf, or change how it stands there; false when its name is taken."""
    name = str(item.fields.get("name", ""))
    held = _held(db, user_id, name)
    if not name or (held is not None and not _same(held, item)):
        return False
    known = item.fields["composed"] if held is None else _composed(held)
    composed = {**known, "status": status, "failures": 0}
    body = encode({"description": item.fields["description"], "composed": composed})
    row = SkillRow(user_id=user_id, name=name, kind=_KIND, body=body, created_at=now, updated_at=now)
    db.execute(
        "INSERT INTO skills (user_id, name, kind, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (user_id, name) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at",
        (row.user_id, row.name, row.kind, row.body, row.created_at, row.updated_at),
    )
    return True


def withdraw(db: Connection, user_id: str, item: ChangeItem, *, approved: bool) -> bool:
    """Take the skill of an item off the shelf, one that was `approved` too; false when another has its name."""
    name = str(item.fields.get("name", ""))
    held = _held(db, user_id, name)
    if held is None:
        return True
    if not _same(held, item):
        return False
    if approved or _composed(held).get("status", "proposed") == "proposed":
        db.execute("DELETE FROM skills WHERE user_id = ? AND name = ?", (user_id, name))
    return True


def unsay(db: Connection, user_id: str, item: ChangeItem) -> ChangeItem:
    """What a person said is gone: a skill that is only proposed goes with it, one they approved is described without
    it, also on the shelf."""
    if item.status == "proposed":
        withdraw(db, user_id, item, approved=False)
        return item
    name = str(item.fields.get("name", ""))
    held = _held(db, user_id, name)
    if held is not None and _same(held, item):
        body = encode(_plain(msgspec.json.decode(held[1])))
        db.execute("UPDATE skills SET body = ? WHERE user_id = ? AND name = ?", (body, user_id, name))
    return replace(item, fields=_plain(item.fields))


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "description": str(fields.get("description", "")).partition(SUCH_AS)[0]}


def _held(db: Connection, user_id: str, name: str) -> tuple[str, bytes] | None:
    found = db.execute("SELECT kind, body FROM skills WHERE user_id = ? AND name = ?", (user_id, name)).fetchone()
    return None if found is None else (str(found[0]), bytes(found[1]))


def _same(held: tuple[str, bytes], item: ChangeItem) -> bool:
    composed, meant = _composed(held), item.fields.get("composed", {})
    return held[0] == _KIND and all(composed.get(name) == meant.get(name) for name in _SAME)


def _composed(held: tuple[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(held[1]).get("composed", {})
    return found
