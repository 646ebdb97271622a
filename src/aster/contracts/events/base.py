"""The envelope every event carries, and how an event is treated by the thread.

Producers fill in the fields of the type; `task_id`, `turn_id`, `seq` and `timestamp` are stamped by the brain in
the moment the event is committed, so that the sequence number has no gap.
"""

from enum import StrEnum
from typing import ClassVar

from aster.contracts.model import Contract


class Grade(StrEnum):
    """How the thread treats an event: a delta may be merged and later folded away, a record never.

    `END` marks the record that closes a turn, so that a reader can tell without decoding it. `SHOWN` is a copy of what
    a sub-agent does on the thread of the task it works for: shown there, part of no state, folded away with its turn.
    """

    DELTA = "delta"
    SHOWN = "shown"
    RECORD = "record"
    END = "end"


class Event(Contract, tag_field="type"):
    """What happened, at one place of one thread."""

    grade: ClassVar[Grade] = Grade.RECORD

    task_id: str = ""
    turn_id: str | None = None
    seq: int = 0
    timestamp: str = ""
    parent_turn_id: str | None = None
    depth: int = 0
