"""Files on their way out: nobody who does not read keeps one open."""

import asyncio
import io

import pytest
from starlette.types import Message, Scope

from aster.server.uploads import FileStream

SCOPE: Scope = {"type": "http"}


async def nothing() -> Message:
    raise AssertionError("nobody asks what the client says")


async def never(message: Message) -> None:
    del message
    await asyncio.Event().wait()


async def gone(message: Message) -> None:
    raise OSError(f"nobody takes a {message['type']}")


async def test_a_client_that_does_not_read_is_given_up() -> None:
    file, done = io.BytesIO(b"x"), asyncio.Event()
    await FileStream(file, 1, "x", done=done.set, patience=0.01)(SCOPE, nothing, never)
    assert (file.closed, done.is_set()) == (True, True)


async def test_a_client_that_is_gone_leaves_nothing_behind() -> None:
    file, done = io.BytesIO(b"x"), asyncio.Event()
    with pytest.raises(OSError, match="nobody takes"):
        await FileStream(file, 1, "x", done=done.set)(SCOPE, nothing, gone)
    assert (file.closed, done.is_set()) == (True, True)
