"""Memories as the client reads them: records with their receipts, and what the other routes of `/memory` answer."""

from typing import Any

import msgspec

from aster.contracts.model import Contract


class ReceiptRecord(Contract):
    """Where a memory came from, and what became of it."""

    extractor: str
    created_at: str
    confidence: float = 1.0
    task_id: str | None = None
    first_seq: int = 0
    last_seq: int = 0
    derived_from: tuple[str, ...] = ()
    uses: int = 0
    last_used_at: str | None = None


class MemoryRecord(Contract):
    id: str
    store: str
    kind: str
    text: str
    confidence: float
    strength: float
    event_at: str
    valid_from: str
    receipt: ReceiptRecord
    valid_until: str | None = None
    superseded_by: str | None = None
    score: float | None = None
    reasons: dict[str, float] = {}
    fields: dict[str, Any] = {}


class MemoryPage(Contract):
    records: tuple[MemoryRecord, ...]
    next: int | None = None


class MemoryHits(Contract):
    hits: tuple[MemoryRecord, ...]
    notice: str | None = None


class MemoryWritten(Contract):
    action: str
    record: MemoryRecord
    replaced: tuple[str, ...] = ()


class DoomedRecord(Contract):
    id: str
    store: str
    text: str
    why: str
    because: str


class TouchedTask(Contract):
    task_id: str
    why: str


class ForgetPreview(Contract):
    records: tuple[DoomedRecord, ...]
    tasks: tuple[TouchedTask, ...]


class Forgotten(Contract):
    forgotten: tuple[str, ...]
    deleted_tasks: tuple[str, ...] = ()


class Imported(Contract):
    imported: int
    known: int
    skills: int = 0


class StoreSize(Contract):
    store: str
    records: int
    superseded: int


class UserSize(Contract):
    user_id: str
    records: int


class MemoryStatistics(Contract):
    stores: tuple[StoreSize, ...]
    pending: int
    model: str | None = None
    fault: str | None = None
    users: tuple[UserSize, ...] | None = None


class SoulRecord(Contract):
    identity: str
    values: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    voice: str | None = None
    version: int = 0


class SoulHistory(SoulRecord):
    """The soul, and every version of it with its receipt, the newest first."""

    versions: tuple[MemoryRecord, ...] = ()


class MemoryUse(Contract):
    """A turn that had a memory in its context."""

    task_id: str
    turn_id: str
    times: int
    used_at: str


class FullReceipt(Contract):
    """Where a memory came from, the records it was derived from, and the turns that had it in their context."""

    receipt: ReceiptRecord
    sources: tuple[MemoryRecord, ...] = ()
    used_in: tuple[MemoryUse, ...] = ()


class Contradiction(Contract):
    at: str
    old_id: str
    old: str
    new_id: str
    new: str


class ContradictionList(Contract):
    contradictions: tuple[Contradiction, ...]


class SocialPath(Contract):
    """A way through the social graph; `edges` are the ids of its steps."""

    text: str
    score: int
    edges: tuple[str, ...]


class SocialPathList(Contract):
    ways: tuple[SocialPath, ...]


class DocumentWritten(Contract):
    document: str
    parts: int
    new: int


class DocumentRecord(Contract):
    document: str
    title: str
    parts: int
    characters: int
    task_id: str = ""
    extractor: str = ""
    created_at: str = ""


class DocumentPage(Contract):
    documents: tuple[DocumentRecord, ...]
    next: int | None = None


class WorkingNote(Contract):
    """What an agent noted in a task, until `expires_at`."""

    id: str
    type: str
    text: str
    created_at: str
    extractor: str = ""
    first_seq: int = 0
    last_seq: int = 0
    expires_at: str | None = None


class WorkingMemory(Contract):
    task_id: str
    entries: tuple[WorkingNote, ...]


class Wiped(Contract):
    user_id: str
    forgotten: int


_OWN = frozenset(MemoryRecord.__struct_fields__) - {"fields"}


def read_record(found: dict[str, Any]) -> MemoryRecord:
    """A record as it was sent: what is not every record's own goes into `fields`."""
    own = {name: value for name, value in found.items() if name in _OWN}
    rest = {name: value for name, value in found.items() if name not in _OWN}
    return msgspec.convert({**own, "fields": rest}, MemoryRecord)


def read_records(found: list[dict[str, Any]]) -> tuple[MemoryRecord, ...]:
    return tuple(map(read_record, found))
