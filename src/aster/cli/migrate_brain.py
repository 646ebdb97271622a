"""`aster migrate-brain`: everything of one brain carried into another, compared, and told."""

import argparse

from aster.brain.moving.move import Moved, move
from aster.brain.moving.places import opened_source, opened_target
from aster.cli.exits import Exit
from aster.cli.progress import progress
from aster.cli.tables import print_table
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.refolding import same_turns


def command(args: argparse.Namespace) -> int:
    if args.from_place == args.to_place:
        raise EngineError(ErrorCode.INVALID_REQUEST, "--from and --to are the same brain.")
    with opened_source(args.from_place) as source, opened_target(args.to_place) as target:
        with progress() as tell:
            moved = move(source, target, same_turns, tell)
        _tell(moved, source.name, target.name, as_json=getattr(args, "json", False))
    return Exit.OK


def _tell(moved: Moved, source: str, target: str, *, as_json: bool) -> None:
    if as_json:
        tables = {one.table: {"rows": one.rows, "checksum": one.checksum} for one in moved.tables}
        facts = {
            "rows": moved.rows,
            "tables": tables,
            "records_indexed": moved.indexed,
            "turns_folded": moved.folded,
        }
        print(encode({"from": source, "to": target, **facts}).decode())
        return
    print_table(
        ("table", "rows", "checksum, the same on both sides"),
        [(one.table, f"{one.rows:,}", one.checksum) for one in moved.tables if one.rows],
    )
    print(
        f"Carried {moved.rows:,} rows from {source} to {target}. {moved.folded:,} turns fold to the same state on both"
        f" sides; the words of {moved.indexed:,} records were indexed anew."
    )
