"""`aster work running|output|kill`: what works behind turns, what it says, and ending it."""

import argparse
import sys

from aster.cli.actions import Work
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.runtime import RuntimeTask
from aster.contracts.model import encode

WIDTH = 60


async def _running(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    status = None if args.all else args.status or "active"
    page = await client.runtime.list(
        status=status, task_id=args.of_task, kind=args.kind, limit=args.limit, after=args.beyond
    )
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.id, _state(one), one.started_at, one_line(one.task_id, 30), one_line(one.description, WIDTH))
        for one in page.tasks
    ]
    print_table(("id", "state", "since", "task", "what"), rows)
    if page.next is not None:
        print(f"There is more: --from {page.next}")


async def _output(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    if args.follow:
        async for piece in client.runtime.follow(args.runtime, offset=args.offset):
            sys.stdout.write(encode(piece).decode() + "\n" if as_json else clean(piece.text))
            sys.stdout.flush()
        return
    position, more = args.offset, True
    while more:
        page = await client.runtime.output(args.runtime, offset=position)
        sys.stdout.write(encode(page).decode() + "\n" if as_json else clean(page.text))
        position, more = page.next_offset, page.more


async def _kill(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    ended = await client.runtime.kill(args.runtime)
    print(
        encode(ended).decode() if as_json else f"{ended.id} [{_state(ended)}] {one_line(ended.description, WIDTH)}"
    )


def _state(one: RuntimeTask) -> str:
    return one.status if one.exit_code in (None, 0) else f"{one.status} ({one.exit_code})"


ACTIONS: dict[str, Work] = {"running": _running, "output": _output, "kill": _kill}
