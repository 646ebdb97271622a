"""Corrections: answers that were refuted after their turn, until the next turn of the task has told so."""

from typing import ClassVar, NamedTuple

from aster.brain.records import Row


class CorrectionRow(Row):
    """An answer (`message_id`) that was refuted after its turn; `event` is the `verification` that says so."""

    table: ClassVar[str] = "corrections"
    key: ClassVar[tuple[str, ...]] = ("correction_id",)

    correction_id: str
    turn_id: str
    message_id: str
    event: bytes
    created_at: int
    expires_at: int


class CorrectionToldRow(Row):
    """The correction was told."""

    table: ClassVar[str] = "corrections"
    key: ClassVar[tuple[str, ...]] = ("correction_id",)

    correction_id: str
    told_at: int


class CorrectionRecord(NamedTuple):
    """A correction that waits to be told."""

    correction_id: str
    turn_id: str
    message_id: str
    event: bytes
