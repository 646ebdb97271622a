"""What is learned, and how: a changeset is what one piece of learning wants to change, item by item, each with the
place it was learned from; a trial is a learned thing that has still to prove itself.

An item says what it would do before it is done, and what it came to after: nothing is learned that cannot be shown,
refused and taken back.
"""

from typing import Any, Final, Literal, TypeAlias

from aster.contracts.model import Contract

LEARNING_TASK: Final = "aster.learning"
"""The task on whose thread learning tells each user what it does, and counts what that costs."""
SELF_PLAY_TASK: Final = "aster.self_play"
"""The hidden task on whose thread a user's agent plays against itself; what that costs is counted there."""
OWN_TASKS: Final = frozenset({LEARNING_TASK, SELF_PLAY_TASK})

SUCH_AS: Final = ', such as: "'
"""What stands in the description of a skill before the words of the person that it was wanted with."""

EntryKind: TypeAlias = Literal["turn", "failure", "feedback", "correction"]
"""What happened: a turn ended well or with an error, a person rated something, or said what would have been right."""
EntryState: TypeAlias = Literal["waiting", "done", "set_aside"]

ChangesetKind: TypeAlias = Literal["batch", "dream", "trial", "skills", "self_play", "feedback"]
ChangesetStatus: TypeAlias = Literal["proposed", "applied", "rejected", "reverted", "empty"]
ItemAction: TypeAlias = Literal["write", "merge", "retire", "trial", "skill"]
"""`write` keeps a record; `merge` keeps one that takes the place of others; `retire` ends the validity of one;
`trial` lets a lesson or heuristic prove itself; `skill` proposes a composed skill to the person."""
ItemStatus: TypeAlias = Literal["proposed", "applied", "refused", "rejected", "reverted", "kept"]
"""`refused`: a check did not let it pass, and says why. `kept`: a revert left it, because it was changed since."""

TrialStatus: TypeAlias = Literal["waiting", "running", "promoted", "retired", "undecided"]
Arm: TypeAlias = Literal["with", "without"]


class ChangeItem(Contract):
    """One thing that is learned. `fields` are those of the record (or of the skill), `sources` the records it is made
    of or ends, `derived_from` those it rests on and leaves as they are, `quote` the words of the person it rests on,
    and the seqs where they stand. `record_id` is what it became; `replaced` are the texts that it takes the place of,
    for the diff."""

    place: int
    action: ItemAction
    kind: str
    fields: dict[str, Any] = {}
    record_id: str = ""
    sources: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    replaced: dict[str, str] = {}
    task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0
    quote: str = ""
    confidence: float = 0.7
    event_at: int | None = None
    valid_from: int | None = None
    status: ItemStatus = "proposed"
    reason: str = ""


class Changeset(Contract):
    """What one piece of learning changes. `night` is the day (UTC) it belongs to, so that all of a night can be taken
    back at once; `cost_usd` is what finding it out has cost; `number` is its place among all, given when it is
    kept."""

    changeset_id: str
    user_id: str
    kind: ChangesetKind
    status: ChangesetStatus
    title: str
    created_at: int
    night: str
    items: tuple[ChangeItem, ...] = ()
    decided_at: int | None = None
    decided_by: str = ""
    model: str = ""
    cost_usd: float = 0.0
    entries: int = 0
    note: str = ""
    number: int = 0


class TrialRun(Contract):
    """One recorded turn, replayed with or without the item: what it came to."""

    trial_id: str
    turn_id: str
    arm: Arm
    task_id: str
    replay_task_id: str
    score: float
    checks: dict[str, float] = {}
    answer: str = ""
    cost_usd: float = 0.0
    at: int = 0


class Trial(Contract):
    """A lesson or heuristic that has to prove itself. The scores are means over the turns that were replayed
    both ways, `gain` their difference; `wins` and `losses` count the turns it made better and worse."""

    trial_id: str
    user_id: str
    kind: str
    fields: dict[str, Any]
    changeset_id: str
    place: int
    status: TrialStatus
    created_at: int
    task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0
    quote: str = ""
    record_id: str = ""
    turns: int = 0
    with_score: float = 0.0
    without_score: float = 0.0
    gain: float = 0.0
    wins: int = 0
    losses: int = 0
    cost_usd: float = 0.0
    decided_at: int | None = None
    reason: str = ""
    runs: tuple[TrialRun, ...] = ()
    number: int = 0
