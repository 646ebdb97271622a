"""A terminal that closes, or a polite kill, ends a command the way leaving it does: cleanly."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from aster.cli.exits import Exit


def run(work: Coroutine[Any, Any, int]) -> int:
    """Run a command's work; SIGHUP and SIGTERM unwind it, so that what it started is stopped."""

    async def guarded() -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        return Exit.CANCELLED
