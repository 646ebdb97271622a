"""Records for the tests of learning."""

from itertools import count
from typing import Any

from aster.brain.memory_records import MemoryRow

DAY = 86_400_000
NOW = 1_000 * DAY
_numbers = count(1)

_FIELDS: dict[str, dict[str, Any]] = {
    "fact": {"subject": "", "predicate": "", "content": "", "type": "fact", "source": ""},
    "episode": {"description": "", "speaker": "", "value": 0.5, "tier": "recent"},
    "trait": {"category": "root", "key": "key", "value": ""},
    "lesson": {
        "trigger": "",
        "mistake": "",
        "correct_pattern": "",
        "code_example": "",
        "domains": [],
        "verified": 0,
        "frequency": 1,
        "helpful": 0,
        "harmful": 0,
    },
    "soul": {"identity": "An assistant.", "values": [], "patterns": [], "voice": None, "version": 0},
}


def record(kind: Any, days_old: float = 0, /, **given: Any) -> MemoryRow:
    """A record that was written so many days ago; fields of its kind and of its receipt by name."""
    number = next(_numbers)
    own = {name: value for name, value in given.items() if name in _FIELDS[kind]}
    receipt = {name: value for name, value in given.items() if name not in _FIELDS[kind]}
    at = NOW - round(days_old * DAY)
    usual: dict[str, Any] = {
        "id": f"{kind}-{number}",
        "number": number,
        "created_at": at,
        "event_at": at,
        "valid_from": at,
        "extractor": "learning",
    }
    return MemoryRow(user_id="u", kind=kind, fields={**_FIELDS[kind], **own}, **{**usual, **receipt})
