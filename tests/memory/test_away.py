"""Stores too large for every replica's memory: pgvector says what is nearest, and the answers are the same."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from aster.brain.memory_records import NewVector
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.postgres.connection import PostgresConnection
from aster.infra.secrets import Secrets
from aster.memory.filling import packed
from aster.memory.memory import Memory
from tests import postgres
from tests.memory.conftest import WordVectors, episode, fact, opened

LATER = 4_000_000_000_000
WORDS = ("dog", "car", "tea", "rain", "house", "river", "lamp", "paper", "stone", "green", "doctor", "window")


@pytest.fixture
def vector_url(database_url: str) -> str:
    """A database on a server with pgvector."""
    postgres.server().run("CREATE EXTENSION vector", database_url.rsplit("/", 1)[1])
    return database_url


def said(count: int) -> list[str]:
    chosen = np.random.default_rng(1).integers(0, len(WORDS), (count, 4))
    return [f"{' '.join(WORDS[word] for word in row)} number {n}" for n, row in enumerate(chosen)]


async def answers(memory: Memory) -> list[list[str]]:
    questions = [
        "puppy in the rain",
        "automobile",
        "physician window",
        "what was said of lamp 17",
        "stone and paper",
    ]
    return [
        [match.row.text for match in (await memory.search("ada", text, ["episodes"], limit=10, now=LATER)).best(10)]
        for text in questions
    ]


async def test_the_answers_are_those_of_a_store_in_memory(vector_url: str) -> None:
    async with opened(vector_url) as memory:
        texts = said(400)
        for start in range(0, 400, 100):
            await memory.write(
                "ada",
                [
                    episode(text, "Zoe", task_id=f"t{start + n >> 4}", event_at=1_700_000_000_000 + start + n)
                    for n, text in enumerate(texts[start : start + 100])
                ],
            )
        await memory.embedded()
        in_memory = await answers(memory)
        assert "in process below" in (await memory.state()).vectors
    async with opened(vector_url, most=50) as memory:
        away = await answers(memory)
        assert not cast("Any", memory)._shelves._kept, "nothing of it was read into memory"
        same = [len(set(ours) & set(theirs)) / 10 for ours, theirs in zip(away, in_memory, strict=True)]
        assert min(same) >= 0.8
        assert sum(same) / len(same) >= 0.9
        assert [ours[0] for ours in away] == [theirs[0] for theirs in in_memory]
        recall = await memory.search("ada", "what did I say on 14 November 2023?", ["episodes"], limit=5, now=LATER)
        assert len(recall.best(5)) == 5
        (gone,) = await memory.forget("ada", [(await memory.page("ada", limit=1))[0].id])
        assert gone.text not in [text for found in await answers(memory) for text in found]


async def test_the_nearest_are_the_nearest(vector_url: str) -> None:
    brain = PostgresBrain(vector_url, readers=1)
    await brain.start()
    memory = Memory(brain.memory, Secrets(), "vectors are given", lambda _: None)
    model = (await brain.memory.begin_model("given")).model
    done = await memory.write("ada", [fact(f"fact {n}") for n in range(300)])
    numbers = np.array([written.row.number for written in done])
    given = np.random.default_rng(2).standard_normal((300, 96)).astype(np.float32)
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    await brain.memory.keep_vectors(
        model, [NewVector(int(number), packed(vector)) for number, vector in zip(numbers, given, strict=True)]
    )
    await brain.memory.keep_vectors(model, [NewVector(int(numbers[0]), b"\xff" * 192)])
    await brain.memory.keep_vectors(model, [NewVector(int(numbers[1]), b"short")])
    await brain.memory.keep_vectors(model, [NewVector(int(numbers[2]), b"")])
    question = given[7] + 0.3 * given[8]
    exact = numbers[3:][np.argsort(-(given[3:] @ question))[:20]].tolist()
    found = await brain.memory.look("ada", "knowledge", lambda reader: reader.nearest(model, question.tolist(), 20))
    assert len(set(found) & set(exact)) >= 19
    assert found[0] == numbers[7]
    assert await brain.memory.look("bob", "knowledge", lambda reader: reader.nearest(model, [0.1] * 96, 5)) == []
    await brain.close()


async def test_half_numbers_are_what_they_were(vector_url: str) -> None:
    given = np.array([0.0, -0.0, 1.0, -1.5, 6.1e-5, 5.96e-8, -65504, 0.333, np.inf, np.nan], "<f2")
    brain = PostgresBrain(vector_url, readers=1)
    await brain.start()
    await brain.close()
    db = PostgresConnection(vector_url)
    (text,) = db.execute("SELECT CAST(aster_near(CAST(? AS BYTEA)) AS TEXT)", (given.tobytes(),)).fetchone()
    db.close()
    assert np.array_equal(np.array(text.strip("[]").split(","), "<f2"), np.where(np.isfinite(given), given, 0))


async def test_without_pgvector_vectors_are_searched_in_memory(path: Path, database_url: str) -> None:
    for place in (path, database_url):
        async with opened(place, WordVectors(), most=1) as memory:
            await memory.write("ada", [fact("The dog sleeps"), fact("The car is red")])
            await memory.embedded()
            found = await memory.search("ada", "puppy", ["knowledge"])
            assert found.best(1)[0].row.text == "The dog sleeps"
            assert len(cast("Any", memory)._shelves._kept) == 1
            assert (await memory.state()).vectors == "exact scan in process"
