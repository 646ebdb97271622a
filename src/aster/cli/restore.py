"""`aster restore`: a backup made the brain again."""

import argparse

from aster.brain.moving.keeping import restore
from aster.cli.carrying import brain_of
from aster.cli.exits import Exit
from aster.cli.progress import progress
from aster.contracts.model import encode
from aster.engine_core.refolding import same_turns


def command(args: argparse.Namespace) -> int:
    with progress() as tell:
        before = restore(args.file, brain_of(args), same_turns, tell, replace=args.replace)
    if getattr(args, "json", False):
        print(encode({"file": str(args.file), "put_aside": str(before) if before is not None else None}).decode())
    else:
        aside = f" What was there before is {before}." if before is not None else ""
        print(f"Restored {args.file}.{aside} Start the engine: turns that were running go on.")
    return Exit.OK
