"""The work graph: what is to be done, what it waits for, and who does it.

An item is ready when nobody has it and everything it waits for is completed; that is derived each time it is asked for
and never kept. What an item has been through is its history, change by change.
"""

from typing import Any, Final, Literal, TypeAlias

from aster.contracts.model import Contract

MAIN_BOARD: Final = "main"
"""The board of a user who has named no other."""

WorkStatus: TypeAlias = Literal["pending", "in_progress", "completed", "deleted"]
WorkShow: TypeAlias = Literal["open", "pending", "in_progress", "completed", "deleted"]
"""What of a board is asked for; `open` is what is pending or in progress."""
WorkAction: TypeAlias = Literal[
    "created", "updated", "linked", "claimed", "completed", "released", "reopened", "deleted"
]
WorkObstacle: TypeAlias = Literal[
    "already_claimed",
    "already_resolved",
    "blocked",
    "busy_owner",
    "not_owner",
    "not_claimed",
    "stale",
    "plan_not_approved",
]
"""Why an item cannot be claimed, completed or changed: somebody has it; it is completed or deleted; it waits for
something; whoever asks is at another item; it is somebody else's; nobody has it; it has changed since it was read; its
owner's plan is not approved."""


class WorkItem(Contract):
    """A piece of work. `blocked_by` is what it waits for, `waiting_for` those of them that are not completed, or are
    gone; `task_id` is the task on whose thread it was made, `owner_task_id` that of its owner."""

    item_id: str
    board: str
    subject: str
    description: str = ""
    status: WorkStatus = "pending"
    ready: bool = False
    owner: str | None = None
    role: str | None = None
    priority: int = 0
    worktree: str | None = None
    result: str | None = None
    version: int = 1
    blocked_by: tuple[str, ...] = ()
    waiting_for: tuple[str, ...] = ()
    task_id: str = ""
    owner_task_id: str = ""
    created_at: int = 0
    updated_at: int = 0
    claimed_at: int | None = None
    completed_at: int | None = None


class WorkChange(Contract):
    """A change of an item: who made it (`by`; `person` when it was one, over HTTP), and where it is told: the seq on
    the thread of `task_id`, 0 when no thread tells of it. `overrode`: a person did what was the owner's to do."""

    number: int
    change_id: str
    item_id: str
    action: WorkAction
    by: str
    at: int
    version: int
    person: bool = False
    overrode: bool = False
    task_id: str = ""
    turn_id: str = ""
    seq: int = 0
    detail: dict[str, Any] = {}


class WorkBoard(Contract):
    """A board, and how much of what is on it."""

    board: str
    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    ready: int = 0


class WorkDraft(Contract):
    """An item that is to be made. `name` is what others of the same call know it by; `blocked_by` are such names, or
    ids of items there are."""

    subject: str
    description: str = ""
    name: str = ""
    blocked_by: tuple[str, ...] = ()
    role: str | None = None
    priority: int = 0


class WorkEdge(Contract):
    """`item_id` waits for `needs`."""

    item_id: str
    needs: str


class WorkEdit(Contract):
    """What is to be another in an item; what is None stays, an empty text clears."""

    subject: str | None = None
    description: str | None = None
    role: str | None = None
    priority: int | None = None
