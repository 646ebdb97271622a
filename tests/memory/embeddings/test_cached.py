"""What was read once is not read again, as long as it is remembered."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aster.memory.embeddings.cached import CachedEmbedder
from aster.memory.embeddings.embedder import Reading


class Counting:
    """Reads a text as many tokens as it has words, and counts."""

    fingerprint = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.ones((len(texts), 2), np.float32)

    async def read(self, texts: Sequence[str]) -> list[Reading]:
        vectors = await self.embed(texts)
        spoken = [text.split() for text in texts]
        return [
            Reading(vector, said, np.ones((len(said), 2), np.float32))
            for vector, said in zip(vectors, spoken, strict=True)
        ]


async def test_a_question_is_read_once_and_records_are_not_remembered() -> None:
    inside = Counting()
    cached = CachedEmbedder(inside)
    first = await cached.read(["who is it"])
    assert await cached.read(["who is it"]) == first
    assert inside.asked == ["who is it"]
    await cached.read(["a", "b"])
    await cached.read(["a", "b"])
    assert inside.asked[1:] == ["a", "b", "a", "b"]


async def test_few_and_short_questions_are_remembered() -> None:
    inside = Counting()
    cached = CachedEmbedder(inside)
    long = "word " * 200
    await cached.read([long])
    await cached.read([long])
    assert len(inside.asked) == 2
    for number in range(100):
        await cached.read([f"question {number}"])
    await cached.read(["question 99"])
    assert len(inside.asked) == 102
    await cached.read(["question 0"])
    assert len(inside.asked) == 103


async def test_vectors_are_made_once() -> None:
    inside = Counting()
    cached = CachedEmbedder(inside)
    await cached.embed(["a", "b"])
    assert (await cached.embed(["b", "a", "a"])).shape == (3, 2)
    assert inside.asked == ["a", "b"]
