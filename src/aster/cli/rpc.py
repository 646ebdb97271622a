"""`aster rpc`: call a tool, a memory operation or a skill by name, without a model in between."""

import argparse
from typing import Any

import msgspec

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.screen.clean import clean
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        found = await client.rpc(args.method, _params(args.params), task_id=args.task, turn_id=args.turn)
    if getattr(args, "json", False):
        print(encode(found).decode())
    else:
        print(clean(str(found["output"])) if "output" in found else encode(found).decode())
    return Exit.OK if found.get("ok", True) else Exit.FAILED


def _params(text: str) -> dict[str, Any]:
    try:
        return decode(text, dict[str, Any])
    except msgspec.DecodeError:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, 'Give the parameters as a JSON object, such as \'{"path": "a.txt"}\'.'
        ) from None
