"""Keys as the operator handles them, straight on the brain, beside engines that may be running.

Each function is one short transaction; the engine sees the change within a second. A key is shown once, by
whoever made it; the brain holds its hash.
"""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from aster.brain.beside import Place, changing, reading
from aster.brain.records import KeyRow
from aster.brain.sql import queries
from aster.brain.sql.connection import Connection
from aster.brain.sql.projections import put
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.server.auth import ENGINE_KEY, OPERATOR, hash_key

NAME_CHARS: Final = 64


class NewKey(NamedTuple):
    """A key in the clear, this once, and the row that remembers it."""

    key: str
    row: KeyRow


def create(brain: Place, name: str, user_id: str = OPERATOR) -> NewKey:
    """A new key for a user. Names are unique among the keys that still work."""
    _check_name("name", name)
    _check_name("user", user_id)
    if name == ENGINE_KEY:
        raise _refused(f"The name {ENGINE_KEY!r} is kept for the key in the settings. Choose another.")
    with _writing(brain) as db:
        if any(row.name == name and row.retired_at is None for row in _live(db)):
            raise _refused(f"A key named {name!r} exists. Choose another name, or rotate it.")
        return _insert(db, name, user_id)


def listing(brain: Place) -> list[KeyRow]:
    """Every key there ever was, oldest first."""
    with reading(brain) as db:
        return [] if db is None else queries.keys(db)


def revoke(brain: Place, which: str) -> list[KeyRow]:
    """End a key, by name or id, at once; also what is left of the ones it replaced."""
    with _writing(brain) as db:
        found = [row for row in _live(db) if which in (row.name, row.key_id)]
        if not found:
            raise _unknown(which)
        if any(row.name == ENGINE_KEY and row.retired_at is None for row in found):
            raise _refused("The engine's own key comes from the settings. Change ENGINE_API_KEY and restart.")
        db.executemany(
            "UPDATE api_keys SET revoked_at = ? WHERE key_id = ?", [(now_ms(), row.key_id) for row in found]
        )
        return found


def rotate(brain: Place, which: str) -> NewKey:
    """A new key in place of one, by name or id; the old one lasts as long as the overlap settings say."""
    with _writing(brain) as db:
        found = [row for row in _live(db) if which in (row.name, row.key_id) and row.retired_at is None]
        if not found:
            raise _unknown(which)
        (old,) = found
        if old.name == ENGINE_KEY:
            raise _refused("The engine's own key comes from the settings. Change ENGINE_API_KEY and restart.")
        db.execute("UPDATE api_keys SET retired_at = ? WHERE key_id = ?", (now_ms(), old.key_id))
        return _insert(db, old.name, old.user_id)


def _insert(db: Connection, name: str, user_id: str) -> NewKey:
    key = f"ak-{secrets.token_urlsafe(32)}"
    row = KeyRow(key_id=new_id("key"), user_id=user_id, name=name, key_hash=hash_key(key), created_at=now_ms())
    put(db, row, None, None)
    return NewKey(key, row)


def _live(db: Connection) -> list[KeyRow]:
    return [row for row in queries.keys(db) if row.revoked_at is None]


@contextmanager
def _writing(brain: Place) -> Generator[Connection]:
    with changing(brain) as db:
        db.dialect.hold(db, "api_keys")
        yield db


def _check_name(field: str, value: str) -> None:
    if not value.strip() or len(value) > NAME_CHARS or not value.isprintable():
        raise _refused(f"The {field} has to be 1 to {NAME_CHARS} printable characters.")


def _refused(sentence: str) -> EngineError:
    return EngineError(ErrorCode.INVALID_REQUEST, sentence)


def _unknown(which: str) -> EngineError:
    return EngineError(ErrorCode.NOT_FOUND, f"No key that still works has the name or id {which!r}.")
