"""What tools see of the work graph: a board as the agent that calls has it. Who that is and on whose thread it is told
is settled by the engine, never by the call."""

from collections.abc import Sequence
from typing import Any, Protocol

from aster.contracts.tools import ToolOutcome
from aster.contracts.work import WorkDraft, WorkEdit, WorkItem, WorkShow

WORKTREE = (
    "Worktree: {name}. Whoever has this item works in that directory and nowhere else, on the branch wt/{name}: commit"
    " there what is to last."
)
ID = {"type": "string", "minLength": 1, "maxLength": 64, "description": "The item."}


class Work(Protocol):
    """Raises `EngineError` when a change cannot be made; nothing is changed then."""

    @property
    def owner(self) -> str:
        """The name under which the calling agent has items."""
        ...

    async def create(self, drafts: Sequence[WorkDraft]) -> Sequence[WorkItem]: ...
    async def edit(
        self, item_id: str, edit: WorkEdit, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> WorkItem: ...
    async def discard(self, item_id: str, reason: str | None = None) -> WorkItem: ...
    async def claim(self, item_id: str) -> WorkItem: ...
    async def complete(self, item_id: str, result: str | None = None) -> tuple[WorkItem, Sequence[WorkItem]]:
        """The item, and what became ready by it."""
        ...

    async def release(self, item_id: str, reason: str | None = None) -> WorkItem: ...
    async def item(self, item_id: str) -> WorkItem: ...
    async def mine(self) -> WorkItem | None:
        """What the calling agent is at."""
        ...

    async def items(
        self, *, limit: int, status: WorkShow | None = None, ready: bool | None = None, after: str | None = None
    ) -> Sequence[WorkItem]: ...


def line(item: WorkItem, owner: str = "") -> str:
    """An item in one line."""
    state = "ready" if item.ready else item.status
    if item.status == "pending" and item.waiting_for:
        state = f"waits for {', '.join(item.waiting_for)}"
    elif item.status == "in_progress":
        state = f"in_progress, {'yours' if item.owner == owner else item.owner}"
    more = [f"priority {item.priority}"] if item.priority else []
    more += [f"role {item.role}"] if item.role else []
    return f"{item.item_id} [{'; '.join((state, *more))}] {item.subject}"


def sheet(item: WorkItem, owner: str) -> str:
    """An item with all it says."""
    parts = [line(item, owner)]
    parts += [f"Blocked by: {', '.join(item.blocked_by)}"] if item.blocked_by else []
    parts += [WORKTREE.format(name=item.worktree)] if item.worktree else []
    parts += ["", item.description] if item.description else []
    parts += ["", f"Result: {item.result}"] if item.result else []
    return "\n".join(parts)


def shown(text: str, *items: WorkItem, **more: Any) -> ToolOutcome:
    """An outcome that names its items also for programs."""
    named = [{"id": item.item_id, "status": item.status, "version": item.version} for item in items]
    return ToolOutcome.text(text, {"items": named, **more})
