"""Worktrees: directories of their own in which items of the work graph are done, each a git worktree on its own branch.

One is made for an item and bound to it once git has made it; whoever holds the item works there and nowhere else. It is
removed by a person alone, and its branch stays.
"""

from typing import Literal, TypeAlias

from aster.contracts.model import Contract

WorktreeStatus: TypeAlias = Literal["creating", "active", "kept", "removing", "removed", "failed"]
WorktreeAction: TypeAlias = Literal["created", "entered", "kept", "removed", "failed"]
WorktreeObstacle: TypeAlias = Literal[
    "item_claimed",
    "item_resolved",
    "item_bound",
    "exists",
    "limit",
    "not_a_repository",
    "git_failed",
    "elsewhere",
    "broken",
    "in_use",
    "background",
    "unfinished",
    "dirty",
    "being_made",
    "removed",
]
"""Why a worktree cannot be made, worked in, kept or removed."""


class Worktree(Contract):
    """A worktree. `base` is the commit it began at, `item_id` the item it was made for, `home_task_id` the task in
    whose workspace its repository lies (empty where all tasks share one). `kept`: a person said that it is to stay."""

    worktree_id: str
    name: str
    repository: str
    path: str
    branch: str
    status: WorktreeStatus
    item_id: str
    home_task_id: str = ""
    base: str | None = None
    kept: bool = False
    created_by: str = ""
    person: bool = False
    reason: str | None = None
    created_at: int = 0
    updated_at: int = 0
    in_use: bool = False
