"""What learning costs those who talk meanwhile: a message during a batch beside the same message when nothing is
learned, and a turn whose end is written down for learning beside one whose end is not.

The batch is the worst there is: one that a person asked for, which does not stop when somebody writes. A run that
began by itself would stand back.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.client import Answer
from benchmarks.figures import Figure
from benchmarks.prompt import Prompt, say
from benchmarks.scale import Scale
from benchmarks.servers import aster_server, model_server
from benchmarks.stage import WARM_TURNS, running
from benchmarks.subjects import Aster

NAME = "learning"
TOLD = "I keep my notes in a green book, and my desk is by the window of the harbour office."
WORKER_SECONDS = 0.2
PAUSE_SECONDS = 0.03
"""Between two messages, so that they fall into all that a batch does and not into one wait for its model."""
BACKLOG = 3
"""Entries that wait for each message that is sent during a batch: it must not be over before them."""


class _Queue(msgspec.Struct):
    waiting: int


class _Status(msgspec.Struct):
    queue: _Queue


class NotLearning(Exception):
    """The batch was over, or had not begun, when it was to be measured."""


def telling(words: int, *, rate: float = 0.0, delay: float = 0.0) -> Prompt:
    """A message from which something can be learned."""
    asked = say(words, rate=rate, delay=delay)
    return Prompt(f"{asked.text} {TOLD}", asked.mark, words)


async def beside_learning(directory: Path, scale: Scale) -> list[Figure]:
    return [*await _during_a_batch(directory / "batch", scale), *await _journalled(directory / "journal", scale)]


async def _during_a_batch(directory: Path, scale: Scale) -> list[Figure]:
    """Some messages when idle, some during a batch, in turn, with a model that answers at once and with one that takes
    its time."""
    figures: list[Figure] = []
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(running(model_server(directory)))
        await model.client.post("/_script", msgspec.json.encode(_worker()))
        server = aster_server(directory, model, EMBEDDINGS_PROVIDER="off", TASK_TITLES="false")
        aster = Aster(await stack.enter_async_context(running(server)))
        for name, rate, delay in (("model answers at once", 0.0, 0.0), ("50 tokens at 200/s", 200.0, 0.05)):
            idle: list[float] = []
            during: list[float] = []
            for _ in range(scale.learning_rounds):
                for _ in range(scale.learning_turns * BACKLOG):
                    await aster.turn(telling(5))
                idle += [await _turn(aster, rate, delay) for _ in range(scale.learning_turns)]
                batch = await _begun(aster)
                during += [await _turn(aster, rate, delay) for _ in range(scale.learning_turns)]
                await _finished(aster, batch)
            what = f"message during a batch, beside one when idle, {name}"
            figures.append(Figure(NAME, what, "ms", median(during), median(idle)))
    return figures


async def _turn(aster: Aster, rate: float, delay: float) -> float:
    await asyncio.sleep(PAUSE_SECONDS)
    return (await aster.turn(telling(50, rate=rate, delay=delay))).seconds * 1e3


async def _waiting(aster: Aster) -> int:
    queue = msgspec.json.decode((await aster.server.client.get("/learning")).body, type=_Status).queue
    return queue.waiting


async def _begun(aster: Aster) -> asyncio.Task[Answer]:
    """A batch that is under way."""
    before = await _waiting(aster)
    batch = asyncio.create_task(aster.server.client.post("/learning/run", b'{"works":["batch"]}'))
    while await _waiting(aster) == before and not batch.done():
        pass
    return batch


async def _finished(aster: Aster, batch: asyncio.Task[Answer]) -> None:
    """The batch has to be under way still; then it is let go on to its end."""
    if batch.done():
        raise NotLearning("the batch was over before the messages were")
    await batch
    while await _waiting(aster):
        await aster.server.client.post("/learning/run", b'{"works":["batch"]}')


def _worker() -> dict[str, object]:
    """A worker model that always finds the same."""
    quote = "I keep my notes in a green book"
    found = {
        "facts": [{"message": 1, "quote": quote, "content": "Notes in a green book.", "subject": "notes"}],
        "traits": [{"message": 1, "quote": quote, "key": "notes", "value": "green book"}],
    }
    parts = [{"type": "text", "text": msgspec.json.encode(found).decode()}]
    reply = {"type": "reply", "parts": parts, "first_byte_delay": WORKER_SECONDS}
    return {"rules": [{"reply": reply, "match": r'^\{"known"'}]}


async def _journalled(directory: Path, scale: Scale) -> list[Figure]:
    """Turns of two engines in turn, of which one keeps nothing to learn from: their time, and that of the processor."""
    spent: dict[str, list[float]] = {"auto": [], "off": []}
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(running(model_server(directory)))
        engines: dict[str, Aster] = {}
        for mode in spent:
            server = aster_server(directory / mode, model, LEARNING=mode, EMBEDDINGS_PROVIDER="off")
            engines[mode] = Aster(await stack.enter_async_context(running(server)))
            for _ in range(WARM_TURNS):
                await engines[mode].turn(telling(20))
        used = {mode: -aster.server.cpu_seconds() for mode, aster in engines.items()}
        for number in range(scale.journalled_turns):
            order = list(engines) if number % 2 == 0 else list(engines)[::-1]
            for mode in order:
                spent[mode].append((await engines[mode].turn(telling(20))).seconds * 1e3)
        for mode, aster in engines.items():
            used[mode] += aster.server.cpu_seconds()
    each = {mode: seconds / scale.journalled_turns * 1e3 for mode, seconds in used.items()}
    what = "turn with an entry for learning, beside one without"
    return [
        Figure(NAME, what, "ms", median(spent["auto"]), median(spent["off"])),
        Figure(NAME, f"{what}, processor", "ms", each["auto"], each["off"]),
    ]
