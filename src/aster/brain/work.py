"""What a storage must be able to do for the work graph: changes that are made whole or not at all, and looking.

A change is a deed: it compares and sets in one transaction, alone among the changes of its user, with its history and,
where there is a thread, with the events that tell of it. A change that a tool call makes carries the call's key; made
again after a crash, it changes nothing and comes to the same.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.contracts.events import Event
from aster.contracts.model import Contract
from aster.contracts.work import WorkBoard, WorkChange, WorkDraft, WorkEdge, WorkEdit, WorkItem, WorkShow

ENGINE = "engine"
"""Who lets go of an item whose owner is no more."""
Use: TypeAlias = Literal["work", "teams", "projects"]
"""What somebody may have had of the work that outlives a turn."""


class Actor(Contract):
    """Who changes something: by which name, for which user, and from where. `call_key` names the tool call."""

    user_id: str
    name: str
    person: bool = False
    task_id: str = ""
    turn_id: str = ""
    call_key: str = ""


class Create(Contract):
    """Make items, all of them or none; `most` open ones a user may have."""

    actor: Actor
    board: str
    drafts: tuple[WorkDraft, ...]
    most: int


class Link(Contract):
    """Let items wait for others, or no longer, all of it or nothing."""

    actor: Actor
    add: tuple[WorkEdge, ...] = ()
    remove: tuple[WorkEdge, ...] = ()


class Edit(Contract):
    """Change what an item says and what it waits for, all of it or nothing; with `version` only if it is still that.
    What somebody has is theirs or a person's to change."""

    actor: Actor
    item_id: str
    owner: str
    edit: WorkEdit
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    version: int | None = None


class Claim(Contract):
    """Give an item to an owner; without an id the most urgent one of the board that is ready, for one of these roles
    or for anybody. There may be none. `source` is what the history says of how it came to that;
    items in `without` are passed over."""

    actor: Actor
    owner: str
    item_id: str | None = None
    board: str = ""
    roles: tuple[str, ...] = ()
    source: str = ""
    without: tuple[str, ...] = ()


class Complete(Contract):
    """Say that an item is done. It is the owner's to say, or a person's who overrides."""

    actor: Actor
    item_id: str
    owner: str
    result: str | None = None
    override: bool = False


class Release(Contract):
    """Give an item back to the board. It is the owner's to do, or a person's who overrides."""

    actor: Actor
    item_id: str
    owner: str
    reason: str | None = None
    override: bool = False


class Abandon(Contract):
    """Give back to the board whatever a task is at, because it does not go on with it; that may be nothing."""

    actor: Actor
    task_id: str
    reason: str


class Discard(Contract):
    """Take an item off the board; what waits for it goes on waiting, until that is changed."""

    actor: Actor
    item_id: str
    owner: str
    reason: str | None = None
    override: bool = False


class Reopen(Contract):
    """Put an item that was completed or deleted back on the board."""

    actor: Actor
    item_id: str
    reason: str | None = None


class BindItem(Contract):
    """Let an item that nobody has be done in this worktree, or one that was done be in none any more."""

    actor: Actor
    item_id: str
    worktree: str | None


WorkOrder: TypeAlias = Create | Link | Edit | Claim | Complete | Release | Abandon | Discard | Reopen | BindItem


class WorkOutcome(Contract):
    """The items that a change was about, as they are now, and those that became ready by it."""

    items: tuple[WorkItem, ...] = ()
    unblocked: tuple[WorkItem, ...] = ()


class WorkDeed(Protocol):
    """A change as a deed of a unit; once that is committed its outcome is known."""

    @property
    def outcome(self) -> WorkOutcome: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class WorkStore(Protocol):
    def deed(self, order: WorkOrder) -> WorkDeed:
        """A change for the commit of somebody's unit."""
        ...

    async def do(self, order: WorkOrder, key: ThreadKey | None = None) -> WorkOutcome:
        """Make a change now, told on this thread if it exists. Raises `EngineError` when it cannot be made."""
        ...

    async def item(self, user_id: str, item_id: str) -> WorkItem | None: ...
    async def items(
        self,
        user_id: str,
        *,
        limit: int,
        board: str | None = None,
        status: WorkShow | None = None,
        owner: str | None = None,
        role: str | None = None,
        ready: bool | None = None,
        after: str | None = None,
    ) -> list[WorkItem]:
        """The most urgent first, then the oldest; deleted ones only when they are asked for."""
        ...

    async def next_ready(
        self, user_id: str, board: str, roles: Sequence[str], without: Sequence[str] = ()
    ) -> WorkItem | None:
        """The most urgent item that is ready, for one of these roles or for anybody; not one of those to be passed
        over."""
        ...

    async def held(self, user_id: str, owner: str) -> WorkItem | None:
        """What an owner is at."""
        ...

    async def history(
        self, user_id: str, item_id: str, *, limit: int, before: int | None = None
    ) -> list[WorkChange]:
        """Newest first."""
        ...

    async def forget(self, keep: int, limit: int) -> int:
        """Forget changes of a few items beyond the newest of each; says how many."""
        ...

    async def boards(self, user_id: str) -> list[WorkBoard]: ...
    async def uses(self, user_id: str) -> frozenset[Use]:
        """What the user has, or had, of work, teams and projects."""
        ...
