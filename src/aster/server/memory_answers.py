"""Memory as a client sees it: what may be sent, and records with their receipts as they are answered."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from aster.brain.memory_kinds import KindName, Store
from aster.brain.memory_records import MemoryRow, Span, Written
from aster.infra.clock import iso_ms
from aster.memory.decay import confidence, strength, utility
from aster.memory.drafts import Draft
from aster.memory.finding import Match
from aster.server.bodies import LARGEST, OtherId, TaskId, printable
from aster.server.media import Part, Text

SearchedStore = Literal["episodes", "knowledge", "social", "lessons", "profile", "documents"]
WrittenKind = Literal["episode", "fact", "node", "edge", "lesson", "trait", "chunk", "note"]
Seq = Annotated[int, Field(ge=0, le=LARGEST)]
Extractor = Annotated[Text, Field(min_length=1, max_length=128), AfterValidator(printable)]


class ReceiptBody(Part):
    """Where a memory comes from, and how long it holds."""

    task_id: TaskId | None = None
    first_seq: Seq = 0
    last_seq: Seq = 0
    extractor: Extractor = "person"
    derived_from: list[OtherId] = Field(default_factory=list[str], max_length=1000)
    confidence: float = Field(1.0, ge=0, le=1)
    event_at: AwareDatetime | None = Field(None, description="When it happened; left out, now.")
    valid_from: AwareDatetime | None = Field(
        None, description="Since when it is true; left out, since it happened."
    )
    valid_until: AwareDatetime | None = Field(None, description="Until when it is true; left out, for good.")

    def draft(self, kind: KindName, fields: dict[str, Any]) -> Draft:
        return Draft(
            kind,
            fields,
            task_id=self.task_id or "",
            first_seq=self.first_seq,
            last_seq=self.last_seq,
            extractor=self.extractor,
            derived_from=tuple(self.derived_from),
            confidence=self.confidence,
            event_at=_ms(self.event_at),
            valid_from=_ms(self.valid_from),
            valid_until=_ms(self.valid_until),
        )


class RecordBody(ReceiptBody):
    """Something to remember."""

    kind: WrittenKind
    fields: dict[str, Any] = Field(
        description="By kind. episode: description, speaker, value, tier. fact: content, subject, predicate, type,"
        " source. node: name, type, attributes. edge: source, relation, target. lesson: trigger, mistake,"
        " correct_pattern, code_example, domains, verified. trait: category, key, value. chunk: document, position,"
        " title, content. note: text, type, expires_at (milliseconds)."
    )


class DocumentBody(ReceiptBody):
    """A long text, kept in parts."""

    document: OtherId = Field(description="Its name; the same name again replaces it.")
    text: Text = Field(min_length=1)
    title: Text = Field("", max_length=500)


class CorrectBody(Part):
    fields: dict[str, Any] = Field(min_length=1, description="The fields that were wrong, as they should be.")
    extractor: Extractor = "person"


class SoulBody(Part):
    identity: Text = Field(min_length=1)
    values: list[Text] = Field(default_factory=list[str])
    patterns: list[Text] = Field(default_factory=list[str])
    voice: Text | None = None
    derived_from: list[OtherId] = Field(default_factory=list[str], max_length=1000)


class SearchBody(Part):
    query: Text = Field(min_length=1, max_length=20_000)
    limit: int = Field(20, ge=1, le=100)


class SearchAllBody(SearchBody):
    stores: list[SearchedStore] | None = Field(None, min_length=1, description="Left out, all of them.")


class ForgetBody(Part):
    """What to forget: records, documents, or all that came from a task or a part of its thread."""

    ids: list[OtherId] = Field(default_factory=list[str], max_length=1000)
    documents: list[OtherId] = Field(default_factory=list[str], max_length=100, description="By their names.")
    task_id: TaskId | None = None
    first_seq: Seq = 0
    last_seq: Seq | None = None

    @property
    def spans(self) -> list[Span]:
        return [] if self.task_id is None else [Span(self.task_id, self.first_seq, self.last_seq)]


class ForgetDoBody(ForgetBody):
    delete_tasks: bool = Field(
        False, description="Also delete the tasks whose threads say it: where it came from, and where it was used."
    )


class Receipt(BaseModel):
    """Where a memory came from, and what became of it."""

    task_id: str | None
    first_seq: int
    last_seq: int
    extractor: str
    derived_from: list[str]
    confidence: float = Field(description="As it was written; the record's own has faded since.")
    created_at: str
    uses: int = Field(description="Turns that had it in their context.")
    last_used_at: str | None

    @classmethod
    def of(cls, row: MemoryRow) -> "Receipt":
        return cls(
            task_id=row.task_id or None,
            first_seq=row.first_seq,
            last_seq=row.last_seq,
            extractor=row.extractor,
            derived_from=list(row.derived_from),
            confidence=row.confidence,
            created_at=iso_ms(row.created_at),
            uses=row.uses,
            last_used_at=_iso(row.last_used_at),
        )


class Record(BaseModel):
    """A memory. The fields of its kind (`subject`, `content`, …) stand beside these."""

    model_config = ConfigDict(extra="allow")

    id: str
    store: Store
    kind: KindName
    text: str = Field(description="What of it is searched.")
    confidence: float = Field(description="As it is now: it fades while it is not used.")
    strength: float
    event_at: str
    valid_from: str
    valid_until: str | None
    superseded_by: str | None
    receipt: Receipt

    @classmethod
    def of(cls, row: MemoryRow, now: int, **more: Any) -> "Record":
        fields = dict(row.fields)
        if row.kind == "lesson":
            fields |= {"verified": bool(fields["verified"]), "utility": utility(row)}
        if row.kind == "note":
            fields["expires_at"] = _iso(fields["expires_at"])
        return cls.model_validate(
            {
                **fields,
                **more,
                "id": row.id,
                "store": row.store,
                "kind": row.kind,
                "text": row.text,
                "confidence": confidence(row, now),
                "strength": strength(row, now),
                "event_at": iso_ms(row.event_at),
                "valid_from": iso_ms(row.valid_from),
                "valid_until": _iso(row.valid_until),
                "superseded_by": row.superseded_by,
                "receipt": Receipt.of(row),
            }
        )


class Hit(Record):
    """A memory that was found."""

    score: float
    reasons: dict[str, float]

    @classmethod
    def found(cls, match: Match, now: int) -> "Hit":
        return cls.model_validate(Record.of(match.row, now, score=match.score, reasons=match.reasons).model_dump())


class HitList(BaseModel):
    hits: list[Hit]
    notice: str | None = Field(description="What the search had to do without.")


class RecordPage(BaseModel):
    records: list[Record]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


class WrittenAnswer(BaseModel):
    action: Literal["created", "duplicate", "superseded", "late"] = Field(
        description="`duplicate`: it was known; `superseded`: it took the place of others; `late`: another had"
        " taken its place before it came."
    )
    record: Record
    replaced: list[str]

    @classmethod
    def of(cls, done: Written, now: int) -> "WrittenAnswer":
        return cls(action=done.action, record=Record.of(done.row, now), replaced=list(done.replaced))


class RecordList(BaseModel):
    records: list[Record]


class DoomedRecord(BaseModel):
    id: str
    store: Store
    text: str
    why: Literal["asked", "derived", "version", "relation"]
    because: str = Field(description="The record it hangs on.")


class TouchedTask(BaseModel):
    task_id: str
    why: Literal["source", "used"]


class PreviewAnswer(BaseModel):
    """What would be forgotten, and which threads say it too."""

    records: list[DoomedRecord]
    tasks: list[TouchedTask]


class ForgottenAnswer(BaseModel):
    forgotten: list[str]
    deleted_tasks: list[str]


class SoulAnswer(BaseModel):
    identity: str
    values: list[str]
    patterns: list[str]
    voice: str | None
    version: int

    @classmethod
    def of(cls, row: MemoryRow) -> "SoulAnswer":
        return cls.model_validate(row.fields)


class SoulFull(SoulAnswer):
    versions: list[Record] = Field(description="All of them, the newest first.")


def _ms(when: datetime | None) -> int | None:
    return None if when is None else max(0, int(when.astimezone(UTC).timestamp() * 1000))


def _iso(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)
