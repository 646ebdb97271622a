"""`aster keys`: keys made and withdrawn on the brain. A key itself is printed once, when it is made."""

import argparse
import sys
from typing import Any

from aster.brain.records import KeyRow
from aster.cli.carrying import brain_of
from aster.cli.exits import Exit
from aster.cli.screen.clean import clean
from aster.cli.tables import print_table
from aster.contracts.model import encode
from aster.infra.clock import iso_ms
from aster.server import keys
from aster.server.auth import OPERATOR


def command(args: argparse.Namespace) -> int:
    brain = brain_of(args)
    as_json: bool = getattr(args, "json", False)
    match args.action:
        case "create":
            _show_new(keys.create(brain, args.name, args.user or OPERATOR), as_json)
        case "rotate":
            _show_new(keys.rotate(brain, args.which), as_json)
        case "revoke":
            _show_revoked(keys.revoke(brain, args.which), as_json)
        case _:
            _show_all(brain, as_json)
    return Exit.OK


def _show_new(made: keys.NewKey, as_json: bool) -> None:
    if as_json:
        print(encode({"key": made.key, **_facts(made.row)}).decode())
        return
    print(made.key)
    print(f"This is the key {made.row.name!r}. It is shown this once; keep it.", file=sys.stderr)


def _show_revoked(rows: list[KeyRow], as_json: bool) -> None:
    if as_json:
        print(encode({"revoked": [row.key_id for row in rows]}).decode())
    else:
        print(f"Revoked {', '.join(f'{clean(row.name)} ({row.key_id})' for row in rows)}.")


def _show_all(brain: str, as_json: bool) -> None:
    rows = keys.listing(brain)
    if as_json:
        print(encode({"keys": [_facts(row) for row in rows]}).decode())
        return
    if not rows:
        print("There are no keys; the engine is open to this machine alone.")
        return
    print_table(
        ("name", "id", "user", "made", "state"),
        [(row.name, row.key_id, row.user_id, iso_ms(row.created_at), _state(row)) for row in rows],
    )


def _facts(row: KeyRow) -> dict[str, Any]:
    return {
        "key_id": row.key_id,
        "name": row.name,
        "user_id": row.user_id,
        "created_at": iso_ms(row.created_at),
        "state": _state(row),
    }


def _state(row: KeyRow) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "active" if row.retired_at is None else "replaced"
