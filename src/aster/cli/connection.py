"""A client for the length of a command, with an engine behind it.

Nothing listens where this machine's engine would be: one is started for the session, and that is said. Anything
else that is wrong with the address is an error that says how to start an engine.
"""

import argparse
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from aster.cli.address import Address, address
from aster.cli.embedded import embedded
from aster.client import AsterClient, EngineUnreachable
from aster.client.follow import OnWait
from aster.contracts.errors import EngineError, ErrorCode


@asynccontextmanager
async def connected(
    args: argparse.Namespace, *, may_start: bool = False, on_wait: OnWait | None = None
) -> AsyncGenerator[AsterClient]:
    """A client whose engine has answered."""
    where = address(args)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(AsterClient(where.url, where.key, on_wait=on_wait))
        try:
            await client.health()
        except EngineUnreachable as error:
            if error.sent or not may_start or where.settings is None:
                raise _advise(where, error) from None
            log = where.settings.data_dir / "session-engine.log"
            print(f"No engine runs at {where.url}; starting one for this session.", file=sys.stderr)
            await stack.enter_async_context(embedded(client, log))
        yield client


def _advise(where: Address, error: EngineUnreachable) -> EngineError:
    how = (
        "Start one with `aster serve`"
        if where.settings
        else "Check the address, or start an engine with `aster serve`"
    )
    return EngineError(ErrorCode.DRAINING, f"{error.message} {how}.", error.details)
