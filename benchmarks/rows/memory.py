"""What many streams at once cost in memory, and whether each of them gets every token in time.

Nothing may be lost: every client must have the whole answer, token by token. A token's delay is counted from the
moment the model was due to send it, so a delay of the model server itself counts too, for both subjects alike.
"""

import asyncio
from pathlib import Path

from benchmarks.client import Client
from benchmarks.figures import Figure, percentile
from benchmarks.prompt import WORD, Prompt, WrongAnswer, call, say
from benchmarks.scale import Scale
from benchmarks.servers import aster_server, model_server
from benchmarks.stage import Model, ModelCall, running, stage
from benchmarks.subjects import Aster, Subject, Turn, data_of, kind_of

RATE = 50.0
SAMPLE_SECONDS = 0.25
SETTLE_SECONDS = 1.0
ASKING = 32


async def open_streams(directory: Path, scale: Scale) -> list[Figure]:
    async with stage(directory) as on:
        await asyncio.sleep(SETTLE_SECONDS)
        aster, proxy = [await _stream(on.model, subject, scale) for subject in on.subjects]
    return [Figure("streams", name, unit, aster[name], proxy[name]) for name, unit in _units(scale)]


def _units(scale: Scale) -> list[tuple[str, str]]:
    many = f"{scale.open_streams} streams of {RATE:g}/s"
    return [
        ("memory, idle", "MB"),
        (f"memory, {many}", "MB"),
        (f"{many}: added delay of a token, median", "ms"),
        (f"{many}: added delay of a token, p99", "ms"),
        (f"{many}: processor time of a token", "µs"),
        (f"{many}: complete answers", "streams"),
    ]


async def _stream(model: Model, subject: Subject, scale: Scale) -> dict[str, float]:
    await model.forget()
    words = int(RATE * scale.stream_seconds)
    prompts = [say(words, rate=RATE, delay=0.5) for _ in range(scale.open_streams)]
    idle, before = subject.server.megabytes(), subject.server.cpu_seconds()
    patience = 60.0 + 3 * scale.stream_seconds
    async with _Peak(subject) as peak:
        turns = await asyncio.gather(*(subject.turn(prompt, timeout=patience) for prompt in prompts))
    spent = subject.server.cpu_seconds() - before
    delays = _delays(prompts, turns, await model.calls())
    values = [
        idle,
        peak.megabytes,
        percentile(delays, 0.5),
        percentile(delays, 0.99),
        spent / len(delays) * 1e6,
        float(len(turns)),
    ]
    return {name: value for (name, _), value in zip(_units(scale), values, strict=True)}


class _Peak:
    """Looks at the memory of a subject now and then while it is entered, and keeps the highest."""

    def __init__(self, subject: Subject) -> None:
        self.megabytes = 0.0
        self._server = subject.server

    async def __aenter__(self) -> "_Peak":
        self._task = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _look(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, self._server.megabytes())
            await asyncio.sleep(SAMPLE_SECONDS)


def _delays(prompts: list[Prompt], turns: list[Turn], calls: list[ModelCall]) -> list[float]:
    by_mark = {prompt.mark: turn for prompt, turn in zip(prompts, turns, strict=True)}
    found: list[float] = []
    for made in calls:
        mark = next((mark for mark in by_mark if f"id={mark}" in made.text), None)
        if mark is not None:
            found += token_delays(by_mark.pop(mark), made.began, RATE)
    if by_mark:
        raise WrongAnswer(f"{len(by_mark)} answers came without a call of the model")
    return found


def token_delays(turn: Turn, began: float, rate: float) -> list[float]:
    """Milliseconds from when each token was due to when it came; a piece may hold several tokens."""
    delays: list[float] = []
    characters = 0
    for at, text in turn.pieces:
        characters += len(text)
        while (len(delays) + 1) * WORD <= characters:
            delays.append((at - began - len(delays) / rate) * 1e3)
    return delays


async def suspended(directory: Path, scale: Scale) -> list[Figure]:
    """Turns that wait for a person, made through the API; then the engine is started again with all of them."""
    count = scale.suspended_turns
    async with running(model_server(directory)) as model:
        server = aster_server(directory, model)
        async with running(server):
            aster = Aster(server)
            for _ in range(20):
                await aster.turn(say(20))
            idle = server.megabytes()
            await _suspend(aster, count)
            await asyncio.sleep(SETTLE_SECONDS)
            full = server.megabytes()
        seconds = await server.start()
        again = server.megabytes()
        await server.stop()
    return [
        Figure("suspended", "memory before", "MB", idle),
        Figure("suspended", f"memory with {count} suspended turns", "MB", full),
        Figure("suspended", "growth for each of them", "kB", (full - idle) * 1e3 / count),
        Figure("suspended", "memory after a start with all of them", "MB", again),
        Figure("suspended", "start with all of them", "s", seconds),
    ]


async def _suspend(aster: Aster, count: int) -> None:
    left = iter(range(count))

    async def client() -> None:
        for _ in left:
            await _ask_person(aster.server.client, aster.order(call("ask_user", {"question": "Go on?"}, rounds=1)))

    async with asyncio.TaskGroup() as group:
        for _ in range(ASKING):
            group.create_task(client())


async def _ask_person(client: Client, order: bytes) -> None:
    waiting = False

    def take(event: bytes, at: float) -> bool:
        nonlocal waiting
        waiting = kind_of(event) == b"thread_lifecycle" and b'"suspended"' in data_of(event)
        return waiting

    await client.post("/execute", order, take)
    if not waiting:
        raise WrongAnswer("a turn that asks a person ended without being suspended")
