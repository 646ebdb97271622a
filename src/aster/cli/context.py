"""`aster tasks context`: what the model calls of a task were shown, and what moved between two of them."""

import argparse

from aster.cli.screen.clean import clean
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.context import ContextChange
from aster.contracts.model import encode


async def context(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    """List the calls; with `--call` show one, with `--diff`, `--from` or `--to` compare two."""
    if args.call is not None:
        await _call(client, args, as_json)
    elif args.diff or args.earlier is not None or args.later is not None:
        await _diff(client, args, as_json)
    else:
        await _calls(client, args, as_json)


async def _calls(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.context.calls(args.task, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    print_table(
        ("call", "step", "model", "prompt", "counted", "from cache", "window", "moved"),
        [
            (
                str(call.call),
                str(call.step),
                call.model,
                f"{call.total_tokens:,}",
                f"{call.input_tokens:,}",
                f"{call.cached_tokens:,}",
                "" if call.window is None else f"{call.window:,}",
                call.moved or "",
            )
            for call in page.calls
        ],
    )


async def _call(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.context.call(args.task, args.call)
    if as_json:
        print(encode(found).decode())
        return
    rows = [(one.block, one.source, f"{one.tokens:,}", str(one.messages or ""), one.hash) for one in found.blocks]
    print_table(("block", "source", "tokens", "messages", "hash"), rows)


async def _diff(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.context.diff(args.task, args.earlier, args.later)
    if as_json:
        print(encode(found).decode())
        return
    print_table(("block", "source", "", "tokens before", "after"), [_row(one) for one in found.blocks])
    moved = found.moved
    begins = f"Call {found.after.call} begins with all of call {found.before.call}."
    print(begins if moved is None else clean(f"First block that moved: {moved.block} ({moved.source})."))


def _row(one: ContextChange) -> tuple[str, ...]:
    named = one.after or one.before
    assert named is not None, "a block is in one of the two calls"
    before, after = (f"{side.tokens:,}" if side else "" for side in (one.before, one.after))
    return named.block, named.source, one.change, before, after
