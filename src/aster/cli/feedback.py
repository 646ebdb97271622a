"""`aster feedback`: say what you think of a turn, a message or a memory, look at what you said, take it back."""

import argparse

from aster.cli.actions import Work, act
from aster.cli.screen.clean import one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.contracts.model import encode


def command(args: argparse.Namespace) -> int:
    return act(args, _WORK)


async def _give(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    said = await client.feedback.give(
        turn_id=args.turn,
        message_id=args.message,
        memory_id=args.memory,
        task_id=args.task,
        rating=args.rating,
        text=args.text,
        correction=args.correction,
    )
    print(encode(said).decode() if as_json else said.signal_id)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.feedback.list(task_id=args.task, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (
            *(one.signal_id, one.target, one.target_id, "" if one.rating is None else f"{one.rating:+g}"),
            one_line(" / ".join(filter(None, (one.text, one.correction))), 80),
        )
        for one in page.signals
    ]
    print_table(("id", "about", "which", "rating", "words"), rows)


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    gone = await client.feedback.take_back(args.signal)
    print(encode(gone).decode() if as_json else f"Took back {gone.signal_id}.")


_WORK: dict[str, Work] = {"give": _give, "list": _list, "delete": _delete}
