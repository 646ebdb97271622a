"""The way out of one command: a proxy that takes it to the hosts on the list and nowhere else.

It speaks plain HTTP proxying and CONNECT. It runs outside the sandbox, holds the secrets, keeps count, and is gone
with the command.
"""

import asyncio
import socket

from aster.sandbox.egress_forward import forward
from aster.sandbox.egress_ledger import EgressLimits, Ledger, OnRefusal, OutOfBytes, Visit
from aster.sandbox.egress_request import BadRequest, Request, Unreachable
from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.hosts import split_port
from aster.sandbox.reach import Reach, Refused

_HEAD_BYTES = 65_536
_PIECE = 65_536


class EgressProxy:
    """Serves the connections of one command; made and closed in the event loop."""

    def __init__(
        self, rules: EgressRules, reach: Reach, limits: EgressLimits, on_refusal: OnRefusal | None = None
    ) -> None:
        self._ledger = Ledger(rules, reach, limits, on_refusal)
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._lines: set[asyncio.Task[None]] = set()
        self._server: asyncio.Task[asyncio.Server] | None = None
        self._handed: socket.socket | None = None
        self._closed = False

    @property
    def visits(self) -> tuple[Visit, ...]:
        return self._ledger.visits

    def attach(self, listener: socket.socket) -> None:
        """Answer what comes to this socket, or over it, from now on; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._serve, listener)

    async def close(self) -> None:
        """End every connection."""
        self._closed = True
        if self._server is not None:
            (await self._server).close()
        if self._handed is not None:
            self._stop_taking(self._handed)
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    def _serve(self, listener: socket.socket) -> None:
        if self._closed:
            listener.close()
            return
        listener.setblocking(False)
        if not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            self._handed = listener
            self._loop.add_reader(listener, self._take, listener)
            return
        starting = asyncio.start_server(self._accept, sock=listener, limit=_HEAD_BYTES)
        self._server = self._loop.create_task(starting)

    def _take(self, handed: socket.socket) -> None:
        """A connection comes as a descriptor; with the command's launcher gone, no more do."""
        try:
            said, fds, _, _ = socket.recv_fds(handed, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            said, fds = b"", []
        if not said:
            self._stop_taking(handed)
        for fd in fds:
            line = socket.socket(fileno=fd)
            line.setblocking(False)
            task = self._loop.create_task(self._adopt(line))
            self._lines.add(task)
            task.add_done_callback(self._lines.discard)

    def _stop_taking(self, handed: socket.socket) -> None:
        self._handed = None
        self._loop.remove_reader(handed)
        handed.close()

    async def _adopt(self, line: socket.socket) -> None:
        try:
            reader, writer = await asyncio.open_connection(sock=line, limit=_HEAD_BYTES)
        except OSError:
            line.close()
            return
        await self._line(reader, writer)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._line(reader, writer))
        self._lines.add(task)
        task.add_done_callback(self._lines.discard)

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from inside, from its first byte to its last."""
        try:
            if len(self._lines) > self._limits.connections:
                _refuse(writer, "503 Busy", "Too many connections at once; use fewer.")
            else:
                await self._answer(reader, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, OutOfBytes):
            pass
        finally:
            if self._closed:
                writer.transport.abort()
            else:
                writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"CONNECT "):
                await self._tunnel(head, reader, writer)
            else:
                await forward(Request(head, reader), writer, self._ledger)
        except Refused as refused:
            _refuse(writer, "403 Forbidden", f"Refused by the engine: {refused}.")
        except (BadRequest, asyncio.LimitOverrunError) as error:
            _refuse(writer, "400 Bad Request", f"Not understood by the engine's proxy: {error}.")
        except TimeoutError:
            _refuse(writer, "504 Gateway Timeout", "The destination did not answer in time.")
        except Unreachable as error:
            _refuse(writer, "502 Bad Gateway", f"The destination cannot be reached: {error}.")

    async def _tunnel(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = split_port(head.split(b"\r\n", 1)[0].split(b" ")[1].decode("latin-1"))
        if port is None:
            raise BadRequest("CONNECT needs host:port")
        visit = self._ledger.enter(self._ledger.name(host, port), port)
        async with asyncio.timeout(self._limits.connect_seconds):
            try:
                far_reader, far_writer = await self._ledger.reach.connect(visit.host, port)
            except Refused as refused:
                raise self._ledger.refuse(visit, refused.why) from None
            except OSError as error:
                raise Unreachable(error.strerror or str(error)) from error
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, far_writer, visit, upward=True))
                both.create_task(self._pump(far_reader, writer, visit, upward=False))
        except* (OSError, OutOfBytes):
            writer.transport.abort()
        finally:
            far_writer.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, visit: Visit, *, upward: bool
    ) -> None:
        while data := await reader.read(_PIECE):
            self._ledger.count(visit, sent=len(data) if upward else 0, received=0 if upward else len(data))
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _refuse(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
