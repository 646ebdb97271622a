"""Waiting that cannot be cut short. Work that has begun in a thread or a process must be brought to its end before
the caller's cancellation goes on, or the thing would outlive the call that owns it.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def _nothing() -> None:
    return None


async def uninterrupted(work: asyncio.Future[T], on_cancel: Callable[[], None] = _nothing) -> T:
    """The result of `work`. A cancellation calls `on_cancel`, waits for the end of `work`, then goes on."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    if cancelled is not None:
        if not work.cancelled():
            work.exception()
        raise cancelled
    return work.result()
