"""The actions of `aster work` that are about worktrees: making, listing, keeping and removing them."""

import argparse

from aster.cli.actions import Work
from aster.cli.screen.clean import one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.worktrees import WorktreeEntry
from aster.contracts.model import encode

WIDTH = 70


async def _trees(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.worktrees.list(status=args.status, limit=args.limit, after=args.beyond)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.worktree_id, _state(one), one.item_id, one.branch, one_line(one.path, WIDTH)) for one in page.worktrees
    ]
    print_table(("id", "state", "item", "branch", "directory"), rows)
    if page.next is not None:
        print(f"There is more: --from {page.next}")


async def _tree(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.worktrees.create(
        args.name, args.item, repository=args.repository, base=args.base, task_id=args.in_task
    )
    _tell(made, as_json)


async def _keep(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.worktrees.keep(args.tree), as_json)


async def _remove(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.worktrees.remove(args.tree, discard=args.discard), as_json)


def _tell(one: WorktreeEntry, as_json: bool) -> None:
    if as_json:
        print(encode(one).decode())
        return
    print(f"{one.worktree_id} [{_state(one)}] {one.branch} {one_line(one.path, WIDTH)}")
    if one.reason:
        print(one_line(one.reason, 300))


def _state(one: WorktreeEntry) -> str:
    return f"{one.status}, in use" if one.in_use else one.status


ACTIONS: dict[str, Work] = {"trees": _trees, "tree": _tree, "keep": _keep, "remove": _remove}
