"""Calling back into the program that uses the client, in the thread where it waits for an answer.

Whoever waits on an event loop is called there. Who waits in a thread of their own (the blocking client) has said so for
the task that works for them, and is called in that thread: there they may block, ask a person, and use the client.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from inspect import isawaitable
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

Host: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs something where the program waits, and gives what it returned."""

HOST: ContextVar[Host | None] = ContextVar("aster_callback_host", default=None)


async def call(callback: Callable[P, Awaitable[T] | T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a callback has to say; it may be a plain function or an async one."""
    host = HOST.get()
    found = callback(*args, **kwargs) if host is None else await host(lambda: callback(*args, **kwargs))
    return await cast("Awaitable[T]", found) if isawaitable(found) else cast("T", found)
