"""The work graph over the wire: what is to be done, what waits for what, and who does it."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract, to_builtins
from aster.contracts.work import MAIN_BOARD, WorkBoard, WorkDraft, WorkEdge, WorkEdit, WorkStatus


class WorkEntry(Contract):
    """A piece of work."""

    item_id: str
    board: str
    subject: str
    status: WorkStatus
    ready: bool
    version: int
    created_at: str
    updated_at: str
    description: str = ""
    owner: str | None = None
    role: str | None = None
    priority: int = 0
    worktree: str | None = None
    result: str | None = None
    blocked_by: tuple[str, ...] = ()
    waiting_for: tuple[str, ...] = ()
    task_id: str | None = None
    owner_task_id: str | None = None
    claimed_at: str | None = None
    completed_at: str | None = None


class WorkEntries(Contract):
    items: tuple[WorkEntry, ...]


class WorkPage(Contract):
    items: tuple[WorkEntry, ...]
    next: str | None = None


class WorkDone(Contract):
    item: WorkEntry
    unblocked: tuple[WorkEntry, ...] = ()


class WorkTaken(Contract):
    item: WorkEntry | None = None


class WorkStory(Contract):
    """A change of an item."""

    number: int
    change_id: str
    action: str
    by: str
    at: str
    version: int
    person: bool = False
    overrode: bool = False
    task_id: str | None = None
    turn_id: str | None = None
    seq: int | None = None
    detail: dict[str, Any] = {}


class WorkHistory(Contract):
    changes: tuple[WorkStory, ...]
    next: int | None = None


class WorkBoards(Contract):
    boards: tuple[WorkBoard, ...]


class WorkClient:
    """The part of a client that is about the work graph."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def boards(self) -> tuple[WorkBoard, ...]:
        return (await self._wire.ask(WorkBoards, "GET", "/work/boards")).boards

    async def create(self, drafts: Sequence[WorkDraft], *, board: str = MAIN_BOARD) -> tuple[WorkEntry, ...]:
        """Make items, all or none; they may wait for each other by `name`."""
        body = {"board": board, "items": to_builtins(drafts)}
        return (await self._wire.ask(WorkEntries, "POST", "/work/items", body=body)).items

    async def list(
        self,
        *,
        board: str = MAIN_BOARD,
        status: str | None = None,
        ready: bool | None = None,
        owner: str | None = None,
        role: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> WorkPage:
        """A page of a board, the most urgent first."""
        params = {
            "board": board,
            "status": status,
            "ready": None if ready is None else str(ready).lower(),
            "owner": owner,
            "role": role,
            "limit": limit,
            "after": after,
        }
        return await self._wire.ask(WorkPage, "GET", "/work/items", params=params)

    async def get(self, item_id: str) -> WorkEntry:
        return await self._wire.ask(WorkEntry, "GET", _path(item_id))

    async def edit(
        self,
        item_id: str,
        edit: WorkEdit,
        *,
        add_blocked_by: Sequence[str] = (),
        remove_blocked_by: Sequence[str] = (),
        version: int | None = None,
    ) -> WorkEntry:
        """Change an item, all of it or nothing; with `version` only if it is still that."""
        body = {
            **to_builtins(edit),
            "add_blocked_by": add_blocked_by,
            "remove_blocked_by": remove_blocked_by,
            "version": version,
        }
        return await self._wire.ask(WorkEntry, "PATCH", _path(item_id), body=body)

    async def link(self, add: Sequence[WorkEdge] = (), remove: Sequence[WorkEdge] = ()) -> tuple[WorkEntry, ...]:
        """Let items wait for others, or no longer; the whole change or nothing of it."""
        body = {"add": _edges(add), "remove": _edges(remove)}
        return (await self._wire.ask(WorkEntries, "POST", "/work/edges", body=body)).items

    async def claim(self, item_id: str, *, owner: str | None = None) -> WorkEntry:
        return await self._wire.ask(WorkEntry, "POST", _path(item_id, "claim"), body={"owner": owner})

    async def claim_next(
        self, *, owner: str | None = None, board: str = MAIN_BOARD, roles: Sequence[str] = ()
    ) -> WorkEntry | None:
        """Take the most urgent item that is ready; None when there is none."""
        body = {"owner": owner, "board": board, "roles": roles}
        return (await self._wire.ask(WorkTaken, "POST", "/work/claim", body=body)).item

    async def complete(
        self, item_id: str, *, owner: str | None = None, result: str | None = None, override: bool = False
    ) -> WorkDone:
        """Say that an item is done; tells what became ready by it."""
        body = {"owner": owner, "result": result, "override": override}
        return await self._wire.ask(WorkDone, "POST", _path(item_id, "complete"), body=body)

    async def release(
        self, item_id: str, *, owner: str | None = None, reason: str | None = None, override: bool = False
    ) -> WorkEntry:
        body = {"owner": owner, "reason": reason, "override": override}
        return await self._wire.ask(WorkEntry, "POST", _path(item_id, "release"), body=body)

    async def reopen(self, item_id: str, *, reason: str | None = None) -> WorkEntry:
        return await self._wire.ask(WorkEntry, "POST", _path(item_id, "reopen"), body={"reason": reason})

    async def delete(self, item_id: str, *, override: bool = False) -> WorkEntry:
        """Take an item off its board; what waits for it goes on waiting."""
        params = {"override": str(override).lower()}
        return await self._wire.ask(WorkEntry, "DELETE", _path(item_id), params=params)

    async def history(self, item_id: str, *, limit: int = 50, before: int | None = None) -> WorkHistory:
        """What an item has been through, newest first."""
        params = {"limit": limit, "before": before}
        return await self._wire.ask(WorkHistory, "GET", _path(item_id, "history"), params=params)


def _path(item_id: str, *more: str) -> str:
    return "/".join(("/work/items", quote(item_id, safe=""), *more))


def _edges(edges: Sequence[WorkEdge]) -> "list[dict[str, str]]":
    return [{"item_id": edge.item_id, "blocked_by": edge.needs} for edge in edges]
