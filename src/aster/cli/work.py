"""`aster work`: what is to be done, what waits for what, and who does it."""

import argparse

from aster.cli import runtime, worktrees
from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.work import WorkEntry
from aster.contracts.model import Contract, encode
from aster.contracts.work import WorkDraft, WorkEdit

WIDTH = 70


def command(args: argparse.Namespace) -> int:
    if args.action is None:
        args.action, args.board, args.status, args.ready = "list", "main", None, False
        args.owner, args.limit, args.beyond = None, 50, None
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.work.list(
        board=args.board,
        status=args.status or "open",
        ready=True if args.ready else None,
        owner=args.owner,
        limit=args.limit,
        after=args.beyond,
    )
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.item_id, _state(one), str(one.priority), one.role or "", one_line(one.subject, WIDTH))
        for one in page.items
    ]
    print_table(("id", "state", "priority", "role", "what"), rows)
    if page.next is not None:
        print(f"There is more: --from {page.next}")


async def _boards(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    del args
    found = await client.work.boards()
    if as_json:
        print(encode(found).decode())
        return
    rows = [
        (one.board, str(one.ready), str(one.pending), str(one.in_progress), str(one.completed)) for one in found
    ]
    print_table(("board", "ready", "pending", "in progress", "completed"), rows)


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    draft = WorkDraft(
        subject=args.subject,
        description=args.description,
        role=args.role,
        priority=args.priority,
        blocked_by=tuple(args.after),
    )
    (made,) = await client.work.create([draft], board=args.board)
    _tell(made, as_json)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.work.get(args.item)
    story = await client.work.history(args.item)
    if as_json:
        print(encode({"item": found, "history": story.changes}).decode())
        return
    _tell(found, as_json)
    if found.blocked_by:
        print(f"Blocked by: {', '.join(found.blocked_by)}")
    if found.worktree:
        print(f"Worktree: {found.worktree}")
    for text in (found.description, found.result):
        if text:
            print(f"\n{clean(text)}")
    print()
    rows = [
        (one.at, one.action, one_line(one.by, 40), "overrode" if one.overrode else "", _place(one.task_id, one.seq))
        for one in story.changes
    ]
    print_table(("when", "what", "by", "", "told at"), rows)


async def _block(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    add, remove = (args.after, ()) if args.action == "block" else ((), args.after)
    _tell(await client.work.edit(args.item, WorkEdit(), add_blocked_by=add, remove_blocked_by=remove), as_json)


async def _claim(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.work.claim(args.item, owner=args.owner), as_json)


async def _done(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.work.complete(args.item, owner=args.owner, result=args.result, override=args.override)
    if as_json:
        print(encode(done).decode())
        return
    _tell(done.item, as_json)
    for one in done.unblocked:
        print(f"Ready now: {one.item_id} {one_line(one.subject, WIDTH)}")


async def _release(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    back = await client.work.release(args.item, owner=args.owner, reason=args.reason, override=args.override)
    _tell(back, as_json)


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.work.delete(args.item, override=args.override), as_json)


async def _reopen(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.work.reopen(args.item), as_json)


def _tell(one: Contract, as_json: bool) -> None:
    if as_json or not isinstance(one, WorkEntry):
        print(encode(one).decode())
        return
    print(f"{one.item_id} [{_state(one)}] {one_line(one.subject, WIDTH)}")


def _state(one: WorkEntry) -> str:
    if one.status == "in_progress":
        return f"in progress: {one_line(one.owner or '', 30)}"
    if one.status == "pending":
        return "ready" if one.ready else f"waits for {len(one.waiting_for)}"
    return one.status


def _place(task_id: str | None, seq: int | None) -> str:
    return f"{one_line(task_id, 30)} #{seq}" if task_id and seq else ""


_WORK: dict[str, Work] = {
    "list": _list,
    "boards": _boards,
    "add": _add,
    "show": _show,
    "block": _block,
    "unblock": _block,
    "claim": _claim,
    "done": _done,
    "release": _release,
    "delete": _delete,
    "reopen": _reopen,
    **worktrees.ACTIONS,
    **runtime.ACTIONS,
}
