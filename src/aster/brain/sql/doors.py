"""Reading the places of conversations that clients send back whole."""

from collections.abc import Sequence

from aster.brain.doors import DoorPlace
from aster.brain.sql.connection import Connection

MOST_AT_ONCE = 500


def places(db: Connection, user_id: str, fingerprints: Sequence[str]) -> list[DoorPlace]:
    """Those of the fingerprints that are known, in no order."""
    found: list[DoorPlace] = []
    for start in range(0, len(fingerprints), MOST_AT_ONCE):
        some = fingerprints[start : start + MOST_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = db.execute(
            "SELECT p.fingerprint, t.task_id, p.turn_id, p.messages, p.kind FROM door_places p"
            f" JOIN threads t USING (thread_id) WHERE p.user_id = ? AND p.fingerprint IN ({marks})",
            (user_id, *some),
        )
        found += [DoorPlace(*row) for row in rows]
    return found
