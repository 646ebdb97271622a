"""Vectors come later: nothing waits for them, a change of model leaves no gap, and what is broken is mended."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aster.memory.finding import Answer
from aster.memory.memory import Memory
from tests.memory.conftest import WordVectors, fact, opened


async def texts(memory: Memory, query: str, limit: int = 20) -> list[str]:
    found: Answer = await memory.search("ada", query, ["knowledge"], limit=limit)
    return [match.row.text for match in found.stores["knowledge"]]


async def test_a_record_is_found_by_words_at_once_and_by_meaning_soon(memory: Memory) -> None:
    await memory.write("ada", [fact("The dog sleeps"), fact("The car is red")])
    assert (await texts(memory, "dog"))[0] == "The dog sleeps"
    await memory.embedded()
    assert (await texts(memory, "puppy"))[0] == "The dog sleeps"
    assert (await texts(memory, "automobile"))[0] == "The car is red"
    assert (await memory.statistics("ada")).pending == 0


async def test_the_old_vectors_serve_until_the_new_ones_are_made(path: Path) -> None:
    old, new = WordVectors("old", 32), WordVectors("new", 48)
    async with opened(path, old) as memory:
        await memory.write("ada", [fact("The dog sleeps"), fact("The car is red"), fact("The doctor is in")])
        await memory.embedded()
    new.failing = "the new model is still being downloaded"
    async with opened(path, new, lambda name: old if name == "old" else None) as memory:
        found = await memory.search("ada", "puppy", ["knowledge"])
        assert found.notice is None
        assert found.stores["knowledge"][0].row.text == "The dog sleeps"
        assert (await memory.statistics("ada")).pending == 3
    async with opened(path, old) as memory:
        assert (await memory.statistics("ada")).pending == 0, "going back costs nothing"
        assert (await texts(memory, "puppy"))[0] == "The dog sleeps"
    new.failing = None
    async with opened(path, new, lambda _: old) as memory:
        await memory.embedded()
        old.asked.clear()
        assert (await texts(memory, "physician"))[0] == "The doctor is in"
        assert old.asked == []
    db = sqlite3.connect(path)
    assert db.execute("SELECT fingerprint, role FROM memory_models").fetchall() == [("new", "current")]
    assert db.execute("SELECT count(*), min(length(vector)) FROM memory_vectors").fetchone() == (3, 96)
    db.close()


@pytest.mark.parametrize(
    "broken", [b"", b"\x00" * 10, b"\xff" * 128, b"\x00" * 128], ids=["gone", "short", "nan", "zero"]
)
async def test_a_broken_vector_is_made_again(path: Path, broken: bytes) -> None:
    async with opened(path) as memory:
        await memory.write("ada", [fact("The dog sleeps"), fact("The car is red")])
        await memory.embedded()
    db = sqlite3.connect(path)
    db.execute("UPDATE memory_vectors SET vector = ? WHERE place = 1", (broken,))
    db.commit()
    db.close()
    async with opened(path) as memory:
        assert set(await texts(memory, "dog car")) == {"The dog sleeps", "The car is red"}
        await memory.embedded()
        assert (await texts(memory, "puppy"))[0] == "The dog sleeps"
        assert (await texts(memory, "automobile"))[0] == "The car is red"


async def test_a_model_that_fails_is_asked_again(path: Path) -> None:
    model = WordVectors()
    model.failing = "out of memory"
    async with opened(path, model) as memory:
        await memory.write("ada", [fact("The dog sleeps")])
        found = await memory.search("ada", "dog", ["knowledge"])
        assert found.notice == "found by words alone: out of memory"
        assert [match.row.text for match in found.stores["knowledge"]] == ["The dog sleeps"]
        model.failing = None
        await asyncio.wait_for(memory.embedded(), 10)
        assert (await texts(memory, "puppy")) == ["The dog sleeps"]
        assert (await memory.statistics("ada")).fault is None


async def test_an_answer_nobody_expected_is_a_failure_like_any_other(path: Path) -> None:
    class Forgetful(WordVectors):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            found = await super().embed(texts)
            return found if len(self.asked) > 4 else found[:-1]

    async with opened(path, Forgetful()) as memory:
        await memory.write("ada", [fact("The dog sleeps"), fact("The car is red"), fact("The doctor is in")])
        await asyncio.wait_for(memory.embedded(), 10)
        assert (await memory.statistics("ada")).pending == 0
        assert (await texts(memory, "puppy"))[0] == "The dog sleeps"


async def test_a_record_that_goes_while_it_is_embedded_stays_gone(memory: Memory) -> None:
    done = await memory.write("ada", [fact(f"The dog sleeps {n}") for n in range(30)])
    await memory.forget("ada", [written.row.id for written in done[:29]])
    await memory.embedded()
    assert await texts(memory, "puppy") == ["The dog sleeps 29"]


async def test_what_is_new_joins_what_is_in_memory(memory: Memory) -> None:
    await memory.write("ada", [fact(f"The dog sleeps {n}") for n in range(3)])
    await memory.embedded()
    assert len(await texts(memory, "puppy")) == 3
    made = await memory.write("ada", [fact("Another hound")])
    await memory.embedded()
    assert (await texts(memory, "puppy"))[0] == "Another hound"
    await memory.forget("ada", [made[0].row.id])
    assert "Another hound" not in await texts(memory, "puppy")
