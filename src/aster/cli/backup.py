"""`aster backup`: the brain kept in a file, engines running or not."""

import argparse

from aster.brain.moving.keeping import Way, backup
from aster.cli.carrying import brain_of
from aster.cli.exits import Exit
from aster.cli.progress import progress
from aster.contracts.model import encode
from aster.engine_core.refolding import same_turns

_WAYS: dict[Way, str] = {
    "copy": "a copy of the brain file",
    "dump": "a dump of PostgreSQL's own",
    "portable": "a brain file made of the database",
}


def command(args: argparse.Namespace) -> int:
    with progress() as tell:
        way = backup(brain_of(args), args.file, same_turns, tell, portable=args.portable)
    size = args.file.stat().st_size
    if getattr(args, "json", False):
        print(encode({"file": str(args.file), "bytes": size, "format": way}).decode())
    else:
        print(f"Kept {args.file}: {_WAYS[way]}, {size / 1e6:.1f} MB.")
    return Exit.OK
