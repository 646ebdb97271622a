"""A stage: one model server with Aster and the proxy in front of it, fresh for every benchmark."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.prompt import Prompt, say
from benchmarks.servers import Server, aster_server, model_server, proxy_server
from benchmarks.subjects import Aster, PlainProxy, Subject

WARM_TURNS = 5


class ModelCall(msgspec.Struct, frozen=True):
    """A call as the model server saw it, in the clock of `time.monotonic`."""

    text: str
    arrived: float
    first_sent: float | None = None
    ended: float | None = None

    @property
    def began(self) -> float:
        assert self.first_sent is not None
        return self.first_sent

    @property
    def seconds(self) -> float:
        assert self.ended is not None
        return self.ended - self.arrived


class Model:
    def __init__(self, server: Server) -> None:
        self.server = server

    async def forget(self) -> None:
        """Drop the record of calls, so that asking for it stays cheap."""
        await self.server.client.post("/_reset", b"")

    async def calls(self) -> list[ModelCall]:
        """All calls since `forget`, each of them over."""
        for _ in range(100):
            answer = await self.server.client.get("/_calls")
            found = msgspec.json.decode(answer.body, type=list[ModelCall])
            if all(call.ended is not None for call in found):
                return found
            await asyncio.sleep(0.01)
        raise RuntimeError("the model server has calls that do not end")

    async def calls_of(self, prompt: Prompt) -> list[ModelCall]:
        return [call for call in await self.calls() if f"id={prompt.mark}" in call.text]


@dataclass(frozen=True, slots=True)
class Stage:
    directory: Path
    model: Model
    aster: Aster
    proxy: PlainProxy

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        return self.aster, self.proxy

    def alternating(self, count: int) -> list[Subject]:
        """Each subject so many times, the first one changing: what disturbs a run disturbs both."""
        pairs = [self.subjects if turn % 2 == 0 else self.subjects[::-1] for turn in range(count)]
        return list(itertools.chain.from_iterable(pairs))


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[Server]:
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def stage(directory: Path) -> AsyncIterator[Stage]:
    """Start all three in this directory, and make a few turns so that every import is done."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(running(model_server(directory)))
        aster = Aster(await stack.enter_async_context(running(aster_server(directory, model))))
        proxy = PlainProxy(await stack.enter_async_context(running(proxy_server(directory, model))))
        for subject in (aster, proxy):
            for _ in range(WARM_TURNS):
                await subject.turn(say(20))
        yield Stage(directory, Model(model), aster, proxy)
