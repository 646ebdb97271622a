"""Learning as a client sees it: what may be asked for, changesets as diffs, trials with their numbers."""

from typing import Any

from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from aster.brain.learning import Entry
from aster.contracts.learning import (
    Arm,
    ChangeItem,
    Changeset,
    ChangesetKind,
    ChangesetStatus,
    EntryKind,
    EntryState,
    ItemAction,
    ItemStatus,
    Trial,
    TrialRun,
    TrialStatus,
)
from aster.contracts.model import Contract
from aster.infra.clock import iso_ms
from aster.learning_centre.centre import Ran
from aster.learning_centre.report import Learned, wording
from aster.learning_centre.utility import utility
from aster.memory.memory import Memory
from aster.server.bodies import OtherId
from aster.server.media import Part
from aster.server.memory_answers import Record


class RunBody(Part):
    works: list[OtherId] = Field(
        default_factory=list[str], max_length=20, description="Which; left out, all. GET /learning names them."
    )
    wait: bool = Field(
        True, description="Answer when it is done; otherwise at once, and the learning thread tells."
    )


class DecideBody(Part):
    places: list[int] = Field(
        default_factory=list[int], max_length=1000, description="Only these items; left out, all of them."
    )


class RevertBody(Part):
    night: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="The day (UTC), as changesets have it.")


class RunAnswer(BaseModel):
    """How a piece of learning went."""

    work: str
    outcome: str = Field(
        description="The status of its changeset (`applied`, `proposed`, `empty`), `nothing`, `deferred` or `failed`."
    )
    at: str
    changeset_id: str | None
    reason: str

    @classmethod
    def of(cls, ran: Ran) -> "RunAnswer":
        return cls(
            work=ran.work,
            outcome=ran.outcome,
            at=iso_ms(ran.at),
            changeset_id=ran.changeset_id or None,
            reason=ran.reason,
        )


class RunsAnswer(BaseModel):
    runs: list[RunAnswer] = Field(description="What was done, in order; empty when there was nothing to do.")
    task_id: str = Field(description="The task on whose thread it is told.")


class Queue(BaseModel):
    """What happened and has not been learned from."""

    waiting: int
    claimed: int
    set_aside: int
    done: int
    oldest_at: str | None


class WorkAnswer(BaseModel):
    name: str
    idle_seconds: float = Field(description="After how long without a message from anybody it begins by itself.")
    cooldown_seconds: float = Field(description="How long it then rests.")
    last: RunAnswer | None


class Money(BaseModel):
    limit_usd: float | None = Field(description="For each user and day; null is no limit.")
    spent_usd: float


class LearningStatus(BaseModel):
    mode: str = Field(description="`auto`, `on` or `off`.")
    by_itself: bool = Field(description="Whether it learns without being asked to.")
    review: bool = Field(description="Whether changesets wait for a person to accept them.")
    task_id: str = Field(description="The task on whose thread learning tells what it does.")
    queue: Queue
    works: list[WorkAnswer]
    next_run_at: str | None
    budget: Money


class Before(BaseModel):
    id: str
    text: str


class Origin(BaseModel):
    """Where the words stand that an item rests on."""

    task_id: str | None
    first_seq: int
    last_seq: int


class ChangesetItem(BaseModel):
    """One thing that is learned, as a diff."""

    place: int
    action: ItemAction
    kind: str
    before: list[Before] = Field(description="What it takes the place of.")
    after: str | None = Field(description="What is known then; null when something is only ended.")
    fields: dict[str, Any]
    record_id: str | None = Field(description="What it became: a memory, or a trial.")
    quote: str = Field(description="The person's words it rests on.")
    receipt: Origin
    confidence: float
    status: ItemStatus
    reason: str

    @classmethod
    def of(cls, memory: Memory, user_id: str, item: ChangeItem) -> "ChangesetItem":
        return cls(
            place=item.place,
            action=item.action,
            kind=item.kind,
            before=[Before(id=name, text=text) for name, text in item.replaced.items()],
            after=None if item.action == "retire" else wording(memory, user_id, item),
            fields=item.fields,
            record_id=item.record_id or None,
            quote=item.quote,
            receipt=Origin(task_id=item.task_id or None, first_seq=item.first_seq, last_seq=item.last_seq),
            confidence=item.confidence,
            status=item.status,
            reason=item.reason,
        )


class ChangesetAnswer(BaseModel):
    changeset_id: str
    kind: ChangesetKind
    status: ChangesetStatus
    title: str
    night: str = Field(description="The day (UTC) whose changesets are taken back together.")
    created_at: str
    decided_at: str | None
    decided_by: str | None
    model: str | None
    cost_usd: float
    entries: int = Field(description="How many things that happened it is made of.")
    note: str
    items: list[ChangesetItem]

    @classmethod
    def of(cls, memory: Memory, changeset: Changeset) -> "ChangesetAnswer":
        return cls(
            changeset_id=changeset.changeset_id,
            kind=changeset.kind,
            status=changeset.status,
            title=changeset.title,
            night=changeset.night,
            created_at=iso_ms(changeset.created_at),
            decided_at=_iso(changeset.decided_at),
            decided_by=changeset.decided_by or None,
            model=changeset.model or None,
            cost_usd=changeset.cost_usd,
            entries=changeset.entries,
            note=changeset.note,
            items=[ChangesetItem.of(memory, changeset.user_id, item) for item in changeset.items],
        )


class ChangesetPage(BaseModel):
    changesets: list[ChangesetAnswer]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


class RevertedAnswer(BaseModel):
    night: str
    changesets: list[ChangesetAnswer] = Field(description="Those that were taken back, the newest first.")


class RunOfTrial(BaseModel):
    turn_id: str
    arm: Arm
    task_id: str
    replay_task_id: str
    score: float
    checks: dict[str, float]
    answer: str
    cost_usd: float
    at: str

    @classmethod
    def of(cls, run: TrialRun) -> "RunOfTrial":
        return cls.model_validate(asdict(run) | {"at": iso_ms(run.at)})


class TrialAnswer(BaseModel):
    """A learned thing that proves itself, or has."""

    trial_id: str
    kind: str
    fields: dict[str, Any]
    status: TrialStatus
    reason: str
    changeset_id: str
    place: int
    receipt: Origin
    quote: str
    record_id: str | None = Field(description="The memory it became.")
    turns: int = Field(description="Recorded turns that were replayed both ways.")
    with_score: float
    without_score: float
    gain: float
    wins: int
    losses: int
    cost_usd: float
    created_at: str
    decided_at: str | None
    runs: list[RunOfTrial]

    @classmethod
    def of(cls, trial: Trial) -> "TrialAnswer":
        return cls.model_validate(
            {
                **asdict(trial),
                "receipt": Origin(
                    task_id=trial.task_id or None, first_seq=trial.first_seq, last_seq=trial.last_seq
                ),
                "record_id": trial.record_id or None,
                "created_at": iso_ms(trial.created_at),
                "decided_at": _iso(trial.decided_at),
                "runs": [RunOfTrial.of(run) for run in trial.runs],
            }
        )


class TrialPage(BaseModel):
    trials: list[TrialAnswer]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


class Worth(BaseModel):
    """What something learned is worth by now."""

    model_config = ConfigDict(from_attributes=True)

    worth: float = Field(description="By which lessons are ranked; for others, how sure and how present it is.")
    uses: int = Field(description="Turns that had it in their context.")
    helpful: int = Field(description="Of those that tell, turns that went well with it.")
    harmful: int = Field(description="Of those that tell, turns that went badly with it.")
    hit_rate: float | None = Field(description="Helpful ones among those that tell; null while they are too few.")
    evidence: int = Field(description="Recorded turns it was tried on before it was trusted.")
    wins: int = Field(description="Of these, turns it made better.")
    losses: int = Field(description="Of these, turns it made worse.")
    gain: float | None = Field(description="By how much it made them better; null when it was never on trial.")


class LearnedAnswer(BaseModel):
    """Something that was learned and is remembered."""

    record: Record
    changeset_id: str
    place: int
    kind: ChangesetKind
    quote: str
    trial_id: str | None
    gain: float | None = Field(description="What its trial measured.")
    utility: Worth

    @classmethod
    def of(cls, one: Learned, now: int) -> "LearnedAnswer":
        return cls(
            record=Record.of(one.row, now),
            changeset_id=one.changeset.changeset_id,
            place=one.item.place,
            kind=one.changeset.kind,
            quote=one.item.quote,
            trial_id=None if one.trial is None else one.trial.trial_id,
            gain=None if one.trial is None else one.trial.gain,
            utility=Worth.model_validate(utility(one.row, one.trial, now)),
        )


class LearnedPage(BaseModel):
    learned: list[LearnedAnswer]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


class UtilityDay(BaseModel):
    day: str
    learned: int
    refused: int
    reverted: int
    promoted: int
    retired: int
    uses: int = Field(description="Turns that had something learned in their context.")
    helpful: int
    harmful: int


class UtilityAnswer(BaseModel):
    days: list[UtilityDay] = Field(description="Newest first; days without anything are left out.")


class EntryAnswer(BaseModel):
    """Something that happened."""

    number: int
    kind: EntryKind
    task_id: str | None
    turn_id: str | None
    signal_id: str | None
    created_at: str
    state: EntryState
    attempts: int
    changeset_id: str | None
    problem: str

    @classmethod
    def of(cls, entry: Entry) -> "EntryAnswer":
        optional = ("task_id", "turn_id", "signal_id", "changeset_id")
        return cls.model_validate(
            {
                **_fields(entry),
                **{name: getattr(entry, name) or None for name in optional},
                "created_at": iso_ms(entry.created_at),
            }
        )


class EntryPage(BaseModel):
    entries: list[EntryAnswer]
    next: int | None = Field(description="Give it as `before` for the next page; null when this was the last.")


def _iso(ms: int | None) -> str | None:
    return None if ms is None else iso_ms(ms)


def _fields(record: Contract) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}
