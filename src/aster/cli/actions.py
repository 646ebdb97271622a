"""The actions of a command that asks a running engine: one function each, chosen by name."""

import argparse
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.client import AsterClient

Work: TypeAlias = Callable[[AsterClient, argparse.Namespace, bool], Coroutine[Any, Any, None]]
"""What an action does; the last argument says whether it answers in JSON."""


def act(args: argparse.Namespace, work: Mapping[str, Work]) -> int:
    """Do what was asked for; `list` when nothing was."""

    async def run() -> int:
        async with connected(args) as client:
            await work[args.action or "list"](client, args, getattr(args, "json", False))
        return Exit.OK

    return hangup.run(run())
