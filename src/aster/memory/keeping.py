"""Keeping what a turn is told to keep: one way for the tool and for a person's own words, with the event that tells it.

A text with a secret in it is not kept at all: what would be left of it helps nobody.
"""

import re
from typing import Any, Final

from aster.brain.memory_records import Action, MemoryRow, Written
from aster.contracts.events import MemoryWrite
from aster.contracts.events.memory import MemoryAction
from aster.memory.drafts import Draft
from aster.memory.memory import Memory

SECRET_REFUSED: Final = "It holds a secret, and secrets are never remembered."  # noqa: S105 - a sentence
SUMMARY_CHARS: Final = 200
_SPOKEN: Final = re.compile(
    r"\b(?:pass(?:word|phrase|code)|pin(?: code| number)?"
    r"|(?:api|secret|private|access|recovery)[ _-]?(?:key|token|code))"
    r"(?: (?:for|of|to) [^.:=]{1,60}?)?\s*(?:is|was|=|:)\s*\S",
    re.IGNORECASE,
)
_ACTIONS: Final[dict[Action, MemoryAction]] = {
    "created": "created",
    "duplicate": "updated",
    "superseded": "superseded",
    "late": "created",
}


def tells_secret(text: str) -> bool:
    """Whether a text says a secret in plain words, such as "my password is …"."""
    return _SPOKEN.search(text) is not None


async def keep(memory: Memory, user_id: str, draft: Draft, text: str) -> tuple[MemoryWrite, Written | None]:
    """Remember a draft whose words are `text`; the event for the thread, and what became of it."""
    if tells_secret(text) or memory.secret_in(text):
        return MemoryWrite(store="knowledge", id="", action="rejected", summary=SECRET_REFUSED), None
    (done,) = await memory.write(user_id, [draft])
    return told(done), done


def told(done: Written) -> MemoryWrite:
    """The event that tells of a record that was written."""
    row = done.row
    return MemoryWrite(
        store=row.store,
        id=row.id,
        action=_ACTIONS[done.action],
        summary=row.text[:SUMMARY_CHARS],
        receipt=receipt(row),
    )


def receipt(row: MemoryRow) -> dict[str, Any]:
    """Where a record came from."""
    return {
        "task_id": row.task_id,
        "first_seq": row.first_seq,
        "last_seq": row.last_seq,
        "extractor": row.extractor,
    }
