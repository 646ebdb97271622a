"""Whether two brains mean the same: every turn of one is folded from both, and both states have to be equal."""

from aster.brain.records import ThreadKey
from aster.brain.sql import queries
from aster.brain.sql.connection import Connection
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.fold import fold


def same_turns(first: Connection, second: Connection) -> int:
    """Compare all turns of two brains; how many there are."""
    found = first.execute(
        "SELECT h.user_id, h.task_id, t.turn_id FROM turns t JOIN threads h USING (thread_id) ORDER BY t.turn_id"
    ).fetchall()
    for user_id, task_id, turn_id in found:
        key = ThreadKey(user_id, task_id)
        if _state(first, key, turn_id) != _state(second, key, turn_id):
            raise EngineError(
                ErrorCode.INTERNAL, f"Turn {turn_id} does not mean the same in both brains, so nothing was kept."
            )
    return len(found)


def _state(db: Connection, key: ThreadKey, turn_id: str) -> bytes:
    return encode(fold(turn_id, queries.records(db, key, turn_id, 0)))
