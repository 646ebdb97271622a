"""The parts of `aster memory` that are about the whole: the soul, the social graph, and beliefs that changed."""

import argparse

from aster.cli.exits import Exit
from aster.cli.screen.clean import clean
from aster.client import AsterClient
from aster.client.memory import MemoryRecord
from aster.contracts.model import encode


async def soul(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    """Who the agent is, with `--history` who it was."""
    found = await client.memory.soul_history() if args.history else await client.memory.soul()
    if as_json:
        print(encode(found).decode())
        return Exit.OK
    print(clean(found.identity))
    for name, lines in (("values", found.values), ("patterns", found.patterns)):
        for line in lines:
            print(f"{name}: {clean(line)}")
    if found.voice:
        print(f"voice: {clean(found.voice)}")
    if args.history:
        for version in (await client.memory.soul_history()).versions:
            _print_version(version)
    return Exit.OK


def _print_version(version: MemoryRecord) -> None:
    receipt = version.receipt
    where = f", {clean(receipt.task_id)} seq {receipt.first_seq} to {receipt.last_seq}" if receipt.task_id else ""
    until = f" until {version.valid_until[:19]}" if version.valid_until else " (now)"
    print(f"\n{version.id}  from {version.valid_from[:19]}{until}, {receipt.extractor}{where}")
    print("\n".join(f"  {line}" for line in clean(version.text).strip().split("\n")))


async def social(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    """Ways through the social graph from, to and through the names."""
    ways = await client.memory.social_paths(",".join(args.about), hops=args.hops, limit=min(args.limit, 100))
    if as_json:
        print(encode(ways).decode())
        return Exit.OK
    for way in ways:
        print(clean(way.text))
    if not ways:
        print("Nothing is known that connects them.")
    return Exit.OK


async def changes(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    """Beliefs that changed, newest first."""
    found = await client.memory.contradictions(limit=args.limit)
    if as_json:
        print(encode(found).decode())
        return Exit.OK
    for one in found:
        print(f"{one.at[:19]}  {one.old_id}: {clean(one.old)}\n{'':19}  {one.new_id}: {clean(one.new)}")
    if not found:
        print("Nothing that is remembered has changed.")
    return Exit.OK
