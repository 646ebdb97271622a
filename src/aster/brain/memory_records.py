"""Memory as the brain keeps it: one row of any kind with its receipt, and what writing, searching and forgetting
answer. Times are milliseconds."""

from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from aster.brain.memory_kinds import KINDS, Kind, KindName, Store
from aster.brain.records import Row
from aster.contracts.model import Contract

Action: TypeAlias = Literal["created", "duplicate", "superseded", "late"]
"""`superseded`: it took the place of another; `late`: another had taken its place before it came."""
Why: TypeAlias = Literal["asked", "derived", "version", "relation"]


class MemoryRow(Contract):
    """A record with its receipt: task and seq span it came from, who extracted it, and what from."""

    id: str
    user_id: str
    kind: KindName
    fields: dict[str, Any]
    created_at: int
    event_at: int
    valid_from: int
    number: int = 0
    task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0
    extractor: str = "person"
    derived_from: tuple[str, ...] = ()
    confidence: float = 1.0
    valid_until: int | None = None
    superseded_by: str | None = None
    uses: int = 0
    last_used_at: int | None = None

    @property
    def about(self) -> Kind:
        return KINDS[self.kind]

    @property
    def store(self) -> Store:
        return self.about.store

    @property
    def text(self) -> str:
        return self.about.text(self.fields)

    @property
    def holds(self) -> bool:
        """Whether nothing has taken its place and no end of it is known."""
        return self.superseded_by is None and self.valid_until is None

    def valid_at(self, when: int) -> bool:
        return self.valid_from <= when and (self.valid_until is None or self.valid_until > when)


class JournalRow(Row):
    """What a turn leaves in its user's memory, committed with an event of its own: what was said, with 0 for a seq that
    is the turn's first or last, which records enter its context, and whether those `marked` among them that are lessons
    were `helpful`."""

    table: ClassVar[str] = "memory_receipts"
    key: ClassVar[tuple[str, ...]] = ("id",)

    user_id: str
    task_id: str
    turn_id: str
    at: int
    said: tuple[MemoryRow, ...] = ()
    used: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    helpful: bool = False


class Written(NamedTuple):
    """What became of a record that was to be written: the row as it is kept, and whom it replaced."""

    action: Action
    row: MemoryRow
    replaced: tuple[str, ...] = ()


class Doomed(NamedTuple):
    """A record that a forget takes along; `because` is the id it hangs on."""

    row: MemoryRow
    why: Why
    because: str


class Span(NamedTuple):
    """A part of a task's thread; all of it when there is no end."""

    task_id: str
    first_seq: int = 0
    last_seq: int | None = None


class Use(NamedTuple):
    """A task that had a record in its context."""

    task_id: str
    turn_id: str
    times: int
    used_at: int


class DocumentSummary(NamedTuple):
    """A document as a whole; `number` is that of its newest part."""

    name: str
    title: str
    parts: int
    characters: int
    task_id: str
    extractor: str
    created_at: int
    number: int


class DocumentPart(NamedTuple):
    """A part of a document; positions count from 0."""

    id: str
    position: int
    text: str


class Contradiction(Contract):
    """One record took the place of another."""

    at: int
    old_id: str
    new_id: str


class Column(NamedTuple):
    """What ranking knows of a record besides its words and its vector."""

    number: int
    who: str
    when: int
    session: str
    position: int
    words: int


class Held(NamedTuple):
    """What of a user there is: the stores that hold something, the newest soul, and the task that all of it comes from,
    if it is one."""

    stores: frozenset[Store]
    soul: "MemoryRow | None"
    only_task: str | None


class ShelfState(NamedTuple):
    """How far a shelf has come: how often records were touched, its newest record, the place of its newest vector."""

    shelf: int
    touched: int
    number: int
    place: int


class VectorRow(NamedTuple):
    """A vector as it is kept; `place` grows with every one that is kept."""

    place: int
    number: int
    vector: bytes


class NewVector(NamedTuple):
    """A vector to be kept, with those of the text's tokens if the model tells them."""

    number: int
    vector: bytes
    tokens: bytes | None = None


class ModelState(NamedTuple):
    """Who makes vectors now; `previous` serves until `pending` is zero."""

    model: int
    previous: int | None
    previous_fingerprint: str | None
    pending: int


class StoreSize(Contract):
    store: Store
    records: int
    superseded: int
