"""The listener: a port in front of an engine, opened with care and closed without cutting anybody off.

It never listens beyond this machine without a key. On the first signal nothing new is admitted, streams are told
where to come back, and turns get their time; on the second it stops waiting. Either way the brain is closed last.
"""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from aster.brain.beside import place_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.engine_core.engine import Engine
from aster.infra.settings import Settings
from aster.server import keys
from aster.server.app import create_app
from aster.server.auth import ENGINE_KEY, engine_hash
from aster.server.origin import is_loopback

log = logging.getLogger("aster.server")

BACKLOG: Final = 2048
KEEP_ALIVE_SECONDS: Final = 65
LAST_WORDS_SECONDS: Final = 2
"""How long answers that are being written may take when the port closes."""


class _Protocol(HttpToolsProtocol):
    """Also what is not HTTP gets the documented envelope."""

    def send_400_response(self, msg: str) -> None:
        error = EngineError(ErrorCode.MALFORMED_REQUEST, "This is not a valid HTTP request.")
        body = encode(error.body())
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


class _Server(uvicorn.Server):
    """Leaves signals to the listener, and says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._leave = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            try:
                await asyncio.wait_for(self._leave.wait(), 1.0)
            except TimeoutError:
                pass

    def leave(self, *, at_once: bool = False) -> None:
        self.should_exit = True
        self.force_exit = self.force_exit or at_once
        self._leave.set()


@dataclass(slots=True)
class Place:
    """Where the engine listens. `hurry` makes the end of the listening quick."""

    url: str
    hurry: bool = False


@asynccontextmanager
async def listening(engine: Engine) -> AsyncGenerator[Place, None]:
    """Start the engine and listen; at the end drain it, close the port, and stop the engine."""
    check_exposure(engine.settings)
    app = create_app(engine)
    bound = _bind(engine.settings)
    with bound:
        async with app.router.lifespan_context(app):
            server = _Server(_config(app))
            serving = asyncio.create_task(server.serve(sockets=[bound]), name="http server")
            place = Place(_url(bound))
            try:
                await server.ready.wait()
                yield place
            finally:
                await engine.drain(0.0 if place.hurry else None)
                server.leave(at_once=place.hurry)
                await serving


def serve(settings: Settings, announce: Callable[[str], None] | None = None) -> int:
    """Run an engine until it is told to stop; `announce` gets its address when it takes requests."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings, announce))


def _settle_memory() -> None:
    """What is loaded by now stays until the end: no collection has to look at it again, and none stops a stream."""
    gc.collect()
    gc.freeze()


async def _serve(settings: Settings, announce: Callable[[str], None] | None) -> int:
    signals = _Signals()
    engine = Engine(settings)
    async with listening(engine) as place:
        _settle_memory()
        log.info("listening", extra={"url": place.url})
        if announce is not None:
            announce(place.url)
        await signals.first.wait()
        log.info("draining", extra={"seconds": settings.drain_seconds})
        draining = asyncio.create_task(engine.drain())
        hurried = asyncio.create_task(signals.second.wait())
        await asyncio.wait((draining, hurried), return_when=asyncio.FIRST_COMPLETED)
        place.hurry = signals.second.is_set()
        for waiting in (draining, hurried):
            waiting.cancel()
        await asyncio.gather(draining, hurried, return_exceptions=True)
    log.info("stopped")
    return 0


class _Signals:
    """SIGTERM and SIGINT, told apart by order alone."""

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._heard)

    def _heard(self) -> None:
        (self.second if self.first.is_set() else self.first).set()


def check_exposure(settings: Settings) -> None:
    """Refuse to be reachable from elsewhere without a key."""
    if is_loopback(settings.host) or engine_hash(settings) is not None:
        return
    named = keys.listing(place_of(settings))
    if any(row.name != ENGINE_KEY and row.revoked_at is None for row in named):
        return
    raise EngineError(
        ErrorCode.CONFIGURATION_INVALID,
        f"HOST is {settings.host}, which others can reach, and there is no key. Set ENGINE_API_KEY or"
        " ENGINE_KEY_HASH, make a key with `aster keys create`, or listen on 127.0.0.1.",
        {"HOST": settings.host},
    )


def _bind(settings: Settings) -> socket.socket:
    """A listening socket: whoever connects while the engine starts waits, and is not turned away."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(found, key=lambda item: item[0] != socket.AF_INET)
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(BACKLOG)
            bound.setblocking(False)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"The engine cannot listen on {settings.host}, port {settings.port}: {error.strerror}."
            " Set HOST and PORT to an address that is free.",
            {"HOST": settings.host, "PORT": settings.port},
        ) from error
    return bound


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=LAST_WORDS_SECONDS,
    )
