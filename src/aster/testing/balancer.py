"""A small TCP balancer on loopback: what stands before several replicas in tests, benchmarks and `aster cluster`.

It knows nothing of HTTP but how to ask for `/health`. A replica that does not answer gets nothing new and its
connections are dropped, so that clients come back and reach another one; a replica that drains keeps those it has. A
connection that could not be opened is tried on the next replica: nothing has been sent by then.
"""

import asyncio
import random
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Literal, Self, TypeAlias, cast

Policy: TypeAlias = Literal["least", "random"]

_HOST = "127.0.0.1"
_CONNECT_SECONDS = 1.0
_MISSES = 2
"""Health checks without an answer after which a replica is dead and not merely slow."""
_ASK = b"GET /health HTTP/1.1\r\nhost: balancer\r\nconnection: close\r\n\r\n"


class Backend:
    """A replica: whether it takes new connections, and those it has."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.taking = True
        self.served = 0
        self.pipes: set[_Side] = set()

    def drop(self) -> None:
        for side in tuple(self.pipes):
            side.cut()


class _Side(asyncio.Protocol):
    """One end of a pipe: what it receives, its peer writes, no faster than that can."""

    def __init__(self) -> None:
        self.peer: _Side | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.write(data)

    def pause_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        peer, self.peer = self.peer, None
        if peer is not None and peer.transport is not None:
            peer.transport.close()

    def cut(self) -> None:
        """End both ends at once, whatever is on its way."""
        for side in (self, self.peer):
            if side is not None and side.transport is not None:
                side.transport.abort()


class _Front(_Side):
    """The client's end: waits, reading nothing, until a replica has been reached."""

    def __init__(self, balancer: "Balancer") -> None:
        super().__init__()
        self._balancer = balancer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        self.transport.pause_reading()
        self._balancer.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._balancer.leave(self)
        super().connection_lost(exc)


class _Back(_Side):
    """The replica's end; counted as long as it lives."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._backend.pipes.add(self)
        self._backend.served += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._backend.pipes.discard(self)
        super().connection_lost(exc)


class Balancer:
    """Listens while it is entered. `policy`: the replica with the fewest connections, or any one by chance."""

    def __init__(
        self,
        ports: Sequence[int],
        *,
        port: int = 0,
        policy: Policy = "least",
        every: float = 0.3,
        patience: float = 1.5,
    ) -> None:
        self.port = port
        self.backends = [Backend(one) for one in ports]
        self._policy = policy
        self._every = every
        self._patience = patience
        self._chance = random.Random()
        self._fronts: set[_Front] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Front(self), _HOST, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        for backend in self.backends:
            self._spawn(self._watch(backend))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for front in tuple(self._fronts):
            front.cut()
        while self._fronts or any(backend.pipes for backend in self.backends):
            await asyncio.sleep(0)

    def cut(self, share: float) -> int:
        """Cut this share of all connections, by chance; says how many."""
        pipes = [side for backend in self.backends for side in backend.pipes]
        chosen = self._chance.sample(pipes, round(len(pipes) * share))
        for side in chosen:
            side.cut()
        return len(chosen)

    def join(self, front: _Front) -> None:
        """Find a replica for a client that has just come."""
        self._fronts.add(front)
        self._spawn(self._join(front))

    def leave(self, front: _Front) -> None:
        self._fronts.discard(front)

    async def _join(self, front: _Front) -> None:
        assert front.transport is not None
        for backend in self._ordered():
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    opening = asyncio.get_running_loop().create_connection(
                        lambda to=backend: _Back(to), _HOST, backend.port
                    )
                    _, back = await opening
            except (OSError, TimeoutError):
                backend.taking = False
                continue
            if front.transport.is_closing():
                back.cut()
                return
            front.peer, back.peer = back, front
            front.transport.resume_reading()
            return
        front.cut()

    def _ordered(self) -> list[Backend]:
        """The replicas to try: those that take new connections, the best one first; if none does, all of them."""
        willing = [one for one in self.backends if one.taking] or list(self.backends)
        self._chance.shuffle(willing)
        return sorted(willing, key=lambda one: len(one.pipes)) if self._policy == "least" else willing

    async def _watch(self, backend: Backend) -> None:
        missed = 0
        while True:
            answer = await self._ask(backend)
            backend.taking = answer.startswith(b"HTTP/1.1 200")
            missed = 0 if answer else missed + 1
            if missed >= _MISSES:
                backend.drop()
            await asyncio.sleep(self._every)

    async def _ask(self, backend: Backend) -> bytes:
        """The first line of the answer to `/health`; nothing if there is none in time."""
        try:
            async with asyncio.timeout(self._patience):
                reader, writer = await asyncio.open_connection(_HOST, backend.port)
                try:
                    writer.write(_ASK)
                    return await reader.readline()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return b""

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
