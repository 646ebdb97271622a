"""What `hydrate` costs on a large memory: time with the reading of the question in it, resident memory, writing, and
what is lost by comparing signs first.

The records are made of a vocabulary with the frequencies of a language (Zipf), their vectors lie in clusters as those
of conversations do. Both are drawn from a seed: every run searches the same memory.
"""

import asyncio
import resource
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aster.brain.memory_protocol import ShelfReader
from aster.brain.memory_records import NewVector
from aster.infra.secrets import Secrets
from aster.memory.bus import MemoryBus, Wish
from aster.memory.drafts import Draft
from aster.memory.embeddings.minilm import MiniLM
from aster.memory.memory import Memory
from aster.memory.retrieval.maxsim import packed
from aster.memory.retrieval.rows import Rows
from aster.memory.shelves import Kept
from benchmarks.memory.library import Library, library

DIMENSIONS, TOPICS, TURNS, WORDS, VOCABULARY = 384, 500, 40, 18, 30_000
BATCH, ASKED, TOKENS = 2_000, 200, 25
USER, BUDGET = "ada", 2_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUESTIONS = (
    "When did {} go hiking with {} near the {}?",
    "What did {} say about the {} last summer?",
    "Which {} does {} want to buy for the {}?",
    "How does {} feel about {} and {}?",
)


async def timed(count: int, model: MiniLM) -> None:
    rng = np.random.default_rng(1)
    await model.read(["warm"])
    async with library(model) as shelves:
        before = _resident()
        spent = await _written(shelves, count, rng)
        print(f"{count} records: {count / spent:.0f} records/s written without embedding them", flush=True)
        memory = await shelves.memory()
        while (await memory.state()).cold:
            await asyncio.sleep(0.1)
        worked = time.process_time()
        millis = await _asked(MemoryBus(memory), rng)
        worked = (time.process_time() - worked) * 1000 / len(millis)
        cuts = statistics.quantiles(millis, n=20)
        print(f"hydrate p50 {statistics.median(millis):.1f} ms, p95 {cuts[18]:.1f} ms with the question read")
        print(f"of the processor, {worked:.1f} ms on average")
        print(f"memory grew by {(_resident() - before) / 2**20:.0f} MB")
        print(f"of the 50 nearest, {await _kept(shelves, count, rng):.1%} are found by signs")


async def _asked(bus: MemoryBus, rng: np.random.Generator) -> list[float]:
    millis: list[float] = []
    for number in range(ASKED + 10):
        text = QUESTIONS[number % len(QUESTIONS)].format(*(_word(n) for n in _zipf(rng, 3)))
        start = time.perf_counter()
        await bus.hydrate(USER, Wish(text), int(NOW.timestamp() * 1000), BUDGET, ("episodes",))
        millis.append((time.perf_counter() - start) * 1000)
    return millis[10:]


async def _written(shelves: Library, count: int, rng: np.random.Generator) -> float:
    """Write records and, beside them, vectors as the model would make them; the seconds the records took."""
    memory = Memory(shelves.store, Secrets(), "vectors are drawn", lambda _: None)
    await memory.start()
    number = (await shelves.store.begin_model(shelves.model.fingerprint)).model
    tokens = packed(rng.standard_normal((TOKENS, DIMENSIONS)).astype(np.float32)).tobytes()
    spent = 0.0
    for drafts in _drafts(count, rng):
        start = time.perf_counter()
        done = await memory.write(USER, drafts)
        spent += time.perf_counter() - start
        vectors = _vectors(len(done), rng).astype("<f2")
        made = [
            NewVector(one.row.number, vector.tobytes(), tokens) for one, vector in zip(done, vectors, strict=True)
        ]
        await shelves.store.keep_vectors(number, made)
    await memory.close()
    return spent


def _drafts(count: int, rng: np.random.Generator) -> Iterator[list[Draft]]:
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        drawn = _zipf(rng, size * WORDS).reshape(size, WORDS)
        yield [
            Draft(
                "episode",
                {"description": " ".join(_word(word) for word in drawn[n]), "speaker": f"person{n % 3}"},
                task_id=str((start + n) // TURNS),
                first_seq=start + n,
                last_seq=start + n,
                event_at=int(NOW.timestamp() * 1000) - (count - start - n) * 60_000,
            )
            for n in range(size)
        ]


def _vectors(size: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Vectors around topics, as far from them as turns of a conversation are."""
    topics = np.random.default_rng(2).standard_normal((TOPICS, DIMENSIONS)).astype(np.float32)
    vectors = topics[rng.integers(TOPICS, size=size)] + 1.2 * rng.standard_normal((size, DIMENSIONS)).astype(
        np.float32
    )
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _zipf(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    shares = 1 / np.arange(3, VOCABULARY + 3)
    return rng.choice(VOCABULARY, size=size, p=shares / shares.sum())


def _word(number: int) -> str:
    """A made-up word; no two numbers have the same."""
    letters = "bdfgklmnprtvz"
    out = ""
    for _ in range(4):
        number, rest = divmod(int(number), len(letters))
        out += letters[rest] + "aeiou"[rest % 5]
    return out


async def _kept(shelves: Library, count: int, rng: np.random.Generator) -> float:
    """Of the 50 records nearest to a vector, the share that is among those compared exactly."""
    kept = Kept(Rows(DIMENSIONS), (await shelves.store.model()).model)

    def look(reader: ShelfReader) -> float:
        kept.refresh(reader)
        shares: list[float] = []
        for vector in _vectors(20, rng):
            exact = np.argsort(-kept.rows.cosines(np.arange(count), vector), kind="stable")[:50]
            shares.append(len(np.intersect1d(exact, kept.rows.nearest(vector, 200))) / 50)
        return float(np.mean(shares))

    return await shelves.store.look(USER, "episodes", look)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
