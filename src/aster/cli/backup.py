"""`aster backup`: the brain kept in a file, engines running or not."""

import argparse

from aster.brain.moving.keeping import Way, backup
from aster.cli.carrying import bar, brain_of
from aster.cli.exits import Exit
from aster.contracts.model import encode
from aster.engine_core.refolding import same_turns

_WAYS: dict[Way, str] = {
    "copy": "a copy of the brain file",
    "dump": "a dump of PostgreSQL's own",
    "portable": "a brain file made of the database",
}


def command(args: argparse.Namespace) -> int:
    with bar() as progress:
        way = backup(brain_of(args), args.file, same_turns, progress, portable=args.portable)
    size = args.file.stat().st_size
    if getattr(args, "json", False):
        print(encode({"file": str(args.file), "bytes": size, "format": way}).decode())
    else:
        print(f"Kept {args.file}: {_WAYS[way]}, {size / 1e6:.1f} MB.")
    return Exit.OK
