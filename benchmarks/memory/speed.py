"""What a search costs on a large shelf: time with the reading of the question in it, memory, and what is lost by
comparing signs first.

The records are made of a vocabulary with the frequencies of a language (Zipf), their vectors lie in clusters as those
of conversations do. Both are drawn from a seed: every run searches the same shelf.
"""

import resource
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aster.memory.embeddings.embedder import Reader, Reading
from aster.memory.retrieval.query import analysed
from aster.memory.retrieval.search import search
from aster.memory.retrieval.shelf import Item
from benchmarks.memory.shelves import shelf as empty

DIMENSIONS, TOPICS, TURNS, WORDS, VOCABULARY = 384, 500, 40, 18, 30_000
BATCH, ASKED, TOKENS = 2_000, 200, 25
NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUESTIONS = (
    "When did {} go hiking with {} near the {}?",
    "What did {} say about the {} last summer?",
    "Which {} does {} want to buy for the {}?",
    "How does {} feel about {} and {}?",
)


async def timed(count: int, model: Reader) -> None:
    rng = np.random.default_rng(1)
    shelf = empty(frozenset(), DIMENSIONS)
    await model.read(["warm"])
    before, began = _resident(), time.perf_counter()
    for items, readings in _records(count, rng):
        shelf.add(items, readings)
    spent, grown = time.perf_counter() - began, _resident() - before
    millis: list[float] = []
    for number in range(ASKED + 10):
        text = QUESTIONS[number % len(QUESTIONS)].format(*(_word(n) for n in _zipf(rng, 3)))
        start = time.perf_counter()
        query = analysed(text, (), NOW)
        reading = (await model.read([query.meaning]))[0]
        search(shelf, query, reading, int(NOW.timestamp() * 1000))
        if number >= 10:
            millis.append((time.perf_counter() - start) * 1000)
    cuts = statistics.quantiles(millis, n=20)
    print(f"{count} records: p50 {statistics.median(millis):.1f} ms, p95 {cuts[18]:.1f} ms with the question read")
    print(f"memory grew by {grown / 2**20:.0f} MB, {count / spent:.0f} records/s added without reading them")
    print(
        f"of the 50 nearest, {_kept(shelf.rows().nearest, shelf.rows().cosines, count, rng):.1%} are found by signs"
    )


def _records(count: int, rng: np.random.Generator) -> Iterator[tuple[list[Item], list[Reading]]]:
    tokens = rng.standard_normal((TOKENS, DIMENSIONS)).astype(np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        drawn = _zipf(rng, size * WORDS).reshape(size, WORDS)
        items = [
            Item(
                start + n,
                " ".join(_word(word) for word in drawn[n]),
                f"person{n % 3}",
                int(NOW.timestamp() * 1000) - (count - start - n) * 60_000,
                str((start + n) // TURNS),
                start + n,
            )
            for n in range(size)
        ]
        yield items, [Reading(vector, [], tokens) for vector in _vectors(size, rng)]


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


def _kept(nearest, cosines, count: int, rng: np.random.Generator) -> float:
    everything = np.arange(count)
    shares = []
    for vector in _vectors(20, rng):
        exact = np.argsort(-cosines(everything, vector), kind="stable")[:50]
        shares.append(len(np.intersect1d(exact, nearest(vector, 200))) / 50)
    return float(np.mean(shares))


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
