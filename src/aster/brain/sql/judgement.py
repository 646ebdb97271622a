"""Plans and uncertainties: written in the commit of the events that tell of them, read by task or by user."""

import re
from typing import Any

import msgspec

from aster.brain.judgement import PlanRecord, RecurringUnknown, UncertaintyRecord
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.contracts.events import PlanUpdate, Uncertainty
from aster.contracts.model import encode
from aster.contracts.turn import Doubt

COMPARED_CHARS = 200
MOST_LISTED = 500

_ITEM = ", ".join(UncertaintyRecord.__struct_fields__)
_THIS = "thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?) AND user_id = ?"
_WORD = re.compile(r"\w+")


def planned(db: Connection, event: PlanUpdate, thread_id: int, user_id: str, now: int) -> None:
    """Keep the plan in the place of the one before it."""
    db.execute(
        "INSERT INTO plans (thread_id, user_id, turn_id, seq, body, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (thread_id) DO UPDATE SET turn_id = excluded.turn_id, seq = excluded.seq,"
        " body = excluded.body, updated_at = excluded.updated_at",
        (thread_id, user_id, event.turn_id or "", event.seq, encode(event), now),
    )


def wondered(db: Connection, event: Uncertainty, thread_id: int, user_id: str, now: int) -> None:
    """Keep an uncertainty, or what became of it; what is settled stays so."""
    db.execute(
        "INSERT INTO uncertainties (thread_id, item_id, user_id, turn_id, seq, item, text, words, impact, confidence,"
        " resolution, source, resolved, note, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (thread_id, item_id) DO UPDATE SET"
        " resolved = CASE WHEN excluded.resolved > uncertainties.resolved THEN excluded.resolved"
        " ELSE uncertainties.resolved END,"
        " note = coalesce(excluded.note, uncertainties.note), updated_at = excluded.updated_at",
        (
            thread_id,
            event.item_id,
            user_id,
            event.turn_id or "",
            event.seq,
            event.item,
            event.text,
            compared(event.text),
            event.impact,
            event.confidence,
            event.resolution,
            event.source,
            event.resolved,
            event.note,
            now,
            now,
        ),
    )


def compared(text: str) -> str:
    """The words of a text, by which it is found to be the same as another."""
    return " ".join(_WORD.findall(text.casefold()))[:COMPARED_CHARS]


def plan(db: Connection, key: ThreadKey) -> PlanRecord | None:
    sql = f"SELECT turn_id, seq, body, updated_at FROM plans WHERE {_THIS}"
    found = db.execute(sql, (*key, key.user_id)).fetchone()
    return None if found is None else PlanRecord(turn_id=found[0], seq=found[1], body=found[2], updated_at=found[3])


def uncertainties(db: Connection, key: ThreadKey) -> list[UncertaintyRecord]:
    """Those of a task, the newest first."""
    sql = f"SELECT {_ITEM} FROM uncertainties WHERE {_THIS} ORDER BY created_at DESC, seq DESC LIMIT {MOST_LISTED}"
    return [_record(row) for row in db.execute(sql, (*key, key.user_id))]


def doubt(db: Connection, key: ThreadKey, item_id: str) -> Doubt | None:
    """One of a task, by its id."""
    sql = f"SELECT {_ITEM} FROM uncertainties WHERE {_THIS} AND item_id = ?"
    row = db.execute(sql, (*key, key.user_id, item_id)).fetchone()
    if row is None:
        return None
    found = _record(row)
    return Doubt(
        item=found.item,
        text=found.text,
        impact=found.impact,
        confidence=found.confidence,
        resolution=found.resolution,
        resolved=found.resolved,
    )


def recurring(db: Connection, user_id: str, limit: int) -> list[RecurringUnknown]:
    """Unknowns of a user that came up more than once and are open, the most frequent first. A fork holds copies of
    what its original holds: those are one."""
    unsettled = "resolved = 0 AND item = 'unknown'"
    newest = f"SELECT text FROM uncertainties WHERE user_id = ? AND words = u.words AND {unsettled}"
    sql = (
        f"SELECT ({newest} ORDER BY updated_at DESC, seq DESC LIMIT 1), count(DISTINCT item_id) AS times,"
        " count(DISTINCT thread_id), max(impact), max(updated_at) AS last"
        f" FROM uncertainties u WHERE user_id = ? AND {unsettled}"
        " GROUP BY words HAVING count(DISTINCT item_id) > 1 ORDER BY times DESC, last DESC LIMIT ?"
    )
    return [
        RecurringUnknown(text=row[0], times=row[1], tasks=row[2], impact=row[3], last_at=row[4])
        for row in db.execute(sql, (user_id, user_id, limit))
    ]


def _record(row: tuple[Any, ...]) -> UncertaintyRecord:
    return msgspec.convert(
        dict(zip(UncertaintyRecord.__struct_fields__, row, strict=True)), UncertaintyRecord, strict=False
    )
