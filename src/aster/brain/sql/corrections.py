"""Reading the corrections that are to be told; they are written beside the events that say what was found."""

from aster.brain.corrections import CorrectionRecord
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection


def untold(db: Connection, key: ThreadKey, now: int) -> list[CorrectionRecord]:
    """What waits on a thread and is not too late, oldest first."""
    found = db.execute(
        "SELECT c.correction_id, c.turn_id, c.message_id, c.event FROM corrections c JOIN threads t USING (thread_id)"
        " WHERE t.user_id = ? AND t.task_id = ? AND c.told_at IS NULL AND c.expires_at > ?"
        " ORDER BY c.created_at, c.correction_id",
        (*key, now),
    )
    return [CorrectionRecord(*row) for row in found]


def threads(db: Connection, now: int) -> list[ThreadKey]:
    """Threads of every user on which one waits; asked once, at boot."""
    found = db.execute(
        "SELECT DISTINCT t.user_id, t.task_id FROM corrections c JOIN threads t USING (thread_id)"
        " WHERE c.told_at IS NULL AND c.expires_at > ?",
        (now,),
    )
    return [ThreadKey(*row) for row in found]
