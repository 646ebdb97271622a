"""Talking to a server that is a program: it runs in the sandbox like any command, and one line is one message.

The program's end is the session's end, and the session's end is the program's: it is given a moment to leave by
itself when its input ends, and then killed with everything it started. A line without end never fills the memory.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from aster.asset_directory.limits import MESSAGE_BYTES
from aster.contracts.errors import EngineError
from aster.sandbox.backend import Command, Completed, Sandbox

LEAVING_SECONDS: Final = 1.0
SAID_CHARS: Final = 2000
NOISE: Final = 200
"""So many lines that are no messages are too many."""


class Complaints:
    """The end of what a program says on its standard error, for whoever asks why it failed."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, text: str, stream: str) -> None:
        if stream == "stderr":
            self.text = (self.text + text)[-SAID_CHARS:]


@asynccontextmanager
async def stdio_transport(
    sandbox: Sandbox, command: Command, complaints: Complaints
) -> AsyncGenerator[TransportStreams]:
    """Run the program for as long as the block lasts."""
    with contextlib.ExitStack() as ends:
        their_input, our_output = os.pipe()
        our_input, their_output = os.pipe()
        for fd in (their_input, their_output):
            ends.callback(os.close, fd)
        loop = asyncio.get_running_loop()
        heard = asyncio.StreamReader(limit=MESSAGE_BYTES)
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(heard), os.fdopen(our_input, "rb", buffering=0)
        )
        ends.callback(reading.close)
        writing, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(our_output, "wb", buffering=0)
        )
        ends.callback(writing.close)
        said = asyncio.StreamWriter(writing, protocol, None, loop)
        given = replace(command, stdio=(their_input, their_output))
        program = asyncio.create_task(sandbox.run(given, complaints), name=f"mcp {command.argv[0]}")
        try:
            async with _pumped(heard, said, program) as streams:
                yield streams
        finally:
            writing.close()
            with anyio.CancelScope(shield=True):
                await _ended(program)


@asynccontextmanager
async def _pumped(
    heard: asyncio.StreamReader, said: asyncio.StreamWriter, program: "asyncio.Task[Completed]"
) -> AsyncGenerator[TransportStreams]:
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    program.add_done_callback(lambda _: heard.feed_eof())
    async with read, write, anyio.create_task_group() as group:
        group.start_soon(_listen, heard, incoming)
        group.start_soon(_speak, said, outgoing)
        try:
            yield read, write
        finally:
            group.cancel_scope.cancel()


async def _listen(
    heard: asyncio.StreamReader, incoming: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    noise = 0
    async with incoming:
        while noise < NOISE:
            try:
                line = await heard.readuntil(b"\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                noise += 1
                continue
            try:
                await incoming.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _speak(said: asyncio.StreamWriter, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with outgoing:
        async for message in outgoing:
            said.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            try:
                await said.drain()
            except OSError:
                return


async def _ended(program: "asyncio.Task[Completed]") -> None:
    await asyncio.wait([program], timeout=LEAVING_SECONDS)
    program.cancel()
    with contextlib.suppress(asyncio.CancelledError, EngineError):
        await program
