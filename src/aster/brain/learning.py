"""What a storage must be able to do for learning: a queue of what happened that loses nothing, changesets that are
applied and taken back whole, and trials.

An entry is claimed for a while by whoever works on it and is done in the very commit that keeps what was learned from
it: a crash in between leaves it to the next, and nobody whose claim has run out can do it a second time.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal, Protocol, TypeAlias

from aster.brain.memory_records import MemoryRow
from aster.brain.records import Row
from aster.contracts.learning import (
    Changeset,
    ChangesetKind,
    ChangesetStatus,
    EntryKind,
    EntryState,
    Trial,
    TrialRun,
    TrialStatus,
)
from aster.contracts.model import Contract

Decision: TypeAlias = Literal["accept", "reject", "revert"]
Rows: TypeAlias = Mapping[int, MemoryRow]
"""The checked record of each item that writes or merges, by the item's place."""


class LearningEntryRow(Row):
    """Something that happened and may be learned from; committed with the event that tells of it."""

    table: ClassVar[str] = "learning_journal"
    key: ClassVar[tuple[str, ...]] = ("entry_id",)

    entry_id: str
    user_id: str
    kind: EntryKind
    task_id: str
    turn_id: str
    created_at: int
    signal_id: str = ""


class Entry(Contract):
    """An entry of the queue as it stands. `number` is its place; `attempts` counts those who gave up on it, or whose
    claim ran out over it."""

    number: int
    entry_id: str
    user_id: str
    kind: EntryKind
    task_id: str
    turn_id: str
    signal_id: str
    created_at: int
    state: EntryState
    attempts: int = 0
    due_at: int = 0
    changeset_id: str = ""
    problem: str = ""


class QueueState(Contract):
    """How much waits, how much was set aside, and since when the oldest waits."""

    waiting: int
    claimed: int
    set_aside: int
    done: int
    oldest_at: int | None


class Claim(Contract):
    """Who works on which entries; a commit under a claim that has run out is refused."""

    holder: str
    numbers: tuple[int, ...]


class LearningStore(Protocol):
    async def claim(
        self, holder: str, *, now: int, until: int, limit: int, user_id: str | None = None
    ) -> list[Entry]:
        """The oldest entries of one user that are due and that nobody works on, left to this holder until then."""
        ...

    async def keep_claim(self, claim: Claim, until: int) -> bool:
        """Hold entries for longer; False when somebody else has one of them, or it is gone."""
        ...

    async def give_back(self, claim: Claim, due_at: int) -> None:
        """Leave entries for later without having tried, because a person came first: it counts as no attempt."""
        ...

    async def give_up(self, claim: Claim, due_at: int, problem: str, most: int) -> None:
        """Leave entries to a later try; after so many tries they are set aside, where a person sees them."""
        ...

    async def active_at(self, now: int) -> int | None:
        """When a person of any user was last heard or answered: now while a turn of theirs runs. Replays, sub-agents
        and learning itself do not count (threads with a parent)."""
        ...

    async def queue(self, user_id: str | None) -> QueueState: ...
    async def entries(
        self, user_id: str, *, limit: int, before: int | None = None, state: EntryState | None = None
    ) -> list[Entry]: ...
    async def requeue(self, user_id: str, number: int) -> bool:
        """Let an entry that was set aside be tried again."""
        ...

    async def waiting_users(self, now: int, user_id: str | None = None) -> list[str]:
        """Whose entries could be worked on now, those that have waited longest first; or only whether this user's
        could."""
        ...

    async def commit(
        self, changeset: Changeset, *, apply: bool, claim: Claim | None, now: int, rows: Rows = MappingProxyType({})
    ) -> Changeset | None:
        """Keep a changeset, do what it says if it is to be applied, begin its trials, and be done with the entries it
        was made of: one commit. None when the claim has run out, or when a changeset of this id is known already:
        nothing is changed then.

        Every item that is not refused and writes or merges has its record in `rows`; they are kept beside what is only
        proposed, so that accepting it needs them no more. A `write` also ends the validity of its `sources`, a `merge`
        takes their place (all of them have to hold still), a `retire` ends them. What comes back says what became of
        each item: `applied` with its `record_id` (a trial's is that of the trial), or `refused` with the reason.
        `Memory.learned` is told after this, after `decide`, and after `settle_trial`."""
        ...

    async def holders(self, rows: Rows) -> dict[int, set[str]]:
        """Whose places these records would take by the rules of their kinds, by the place of each; nothing is
        changed."""
        ...

    async def decide(
        self, user_id: str, changeset_id: str, decision: Decision, *, by: str, now: int, places: Sequence[int] = ()
    ) -> Changeset | None:
        """Accept a proposed changeset, reject it, or revert an applied one: memory is then as it was before, byte for
        byte, but for what somebody has changed since, which is kept and told. With `places` only those items; the
        others stay as they are. None when there is nothing to decide so."""
        ...

    async def changeset(self, user_id: str, changeset_id: str) -> Changeset | None: ...
    async def changesets(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: ChangesetStatus | None = None,
        kind: ChangesetKind | None = None,
        night: str | None = None,
    ) -> list[Changeset]:
        """Newest first, with their items; `before` is the number of the last one seen."""
        ...

    async def learned_as(self, user_id: str, record_id: str) -> tuple[Changeset, int] | None:
        """The changeset a record came from, and its place there."""
        ...

    async def trials(
        self, user_id: str, *, limit: int, status: TrialStatus | None = None, before: int | None = None
    ) -> list[Trial]: ...
    async def trial(self, user_id: str, trial_id: str) -> Trial | None:
        """With its runs."""
        ...

    async def open_trials(self, user_id: str | None = None) -> list[Trial]:
        """Of a user, or of all: those that wait or run, and those that wait for more turns; without their runs."""
        ...

    async def keep_run(self, user_id: str, run: TrialRun) -> None:
        """Once for each trial, turn and arm; a second time changes nothing, nor does a run of a trial that is over."""
        ...

    async def settle_trial(
        self, trial: Trial, promotion: Changeset | None, *, now: int, rows: Rows = MappingProxyType({})
    ) -> bool:
        """Keep where a trial stands; with its promotion, apply that changeset in the same commit, and know the record
        it became. False when it was promoted or retired already: nothing is changed then."""
        ...

    async def state(self, user_id: str, name: str) -> str | None: ...
    async def keep_state(self, user_id: str, name: str, value: str, now: int) -> None:
        """A word that learning goes by for a user, such as when it was last done."""
        ...

    async def retain(self, done_before: int, limit: int) -> int:
        """Forget entries that were done before then."""
        ...
