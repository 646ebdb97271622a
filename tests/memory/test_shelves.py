"""Shelves in memory: as many as fit, and two users' never mixed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.secrets import Secrets
from aster.memory.documents import Document
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from aster.memory.retrieval.shelf import Item
from aster.memory.shelves import Shelves
from tests.memory.conftest import WordVectors, fact, opened


def test_the_shelf_used_longest_ago_is_let_go() -> None:
    shelves = Shelves(most_bytes=0)
    first = shelves.kept(("ada", "knowledge"), 1, 64)
    shelves.kept(("bob", "knowledge"), 1, 64)
    assert shelves.kept(("ada", "knowledge"), 1, 64) is first, "empty shelves weigh nothing"
    first.rows.add([Item(1, "")], np.zeros((1, 64), np.float32))
    shelves.kept(("bob", "knowledge"), 1, 64)
    assert shelves.kept(("ada", "knowledge"), 1, 64) is not first


def test_another_models_vectors_are_another_shelf() -> None:
    shelves = Shelves()
    first = shelves.kept(("ada", "knowledge"), 1, 64)
    assert shelves.kept(("ada", "knowledge"), 1, 64) is first
    assert shelves.kept(("ada", "knowledge"), 2, 64) is not first
    assert shelves.kept(("ada", "episodes"), 2, 64).rows is not first.rows


async def test_parts_of_a_document_stand_beside_each_other_and_not_beside_those_of_another(path: Path) -> None:
    brain = SqliteBrain(path)
    await brain.start()
    memory = Memory(brain.memory, Secrets(), "no model", lambda _: None)
    for name in ("boats", "cats"):
        await memory.ingest("ada", Document(name, f"All about {name}. " * 150), Draft("chunk", {}))
    columns = await brain.memory.look("ada", "documents", lambda reader: reader.columns(0, 50))
    await brain.close()
    assert {column.session for column in columns} == {"boats", "cats"}
    for name in ("boats", "cats"):
        positions = [column.position for column in columns if column.session == name]
        assert positions == list(range(len(positions)))
        assert len(positions) > 1


async def test_many_search_and_write_at_once(memory: Memory) -> None:
    async def one(user: str) -> None:
        for n in range(8):
            await memory.write(user, [fact(f"{user} says dog {n}")])
            found = await memory.search(user, "dog", limit=50)
            texts = [match.row.text for match in found.best(50)]
            assert len(texts) == n + 1
            assert all(text.startswith(user) for text in texts)

    await asyncio.gather(*(one(f"user{n}") for n in range(6)))


class Held(WordVectors):
    """Waits before it reads what was kept of a colour, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.let_go = asyncio.Event(), {"red": asyncio.Event(), "blue": asyncio.Event()}

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for colour, gate in self.let_go.items():
            if any(text.endswith(colour) for text in texts):
                self.reached.set()
                await gate.wait()
        return await super().embed(texts)


async def test_a_vector_that_comes_when_its_record_is_replaced_already_changes_nothing(path: Path) -> None:
    vectors = Held()
    async with opened(path, vectors) as memory:
        await memory.write("ada", [fact("the door is red", "door", "colour")])
        await vectors.reached.wait()
        await memory.search("ada", "door", limit=5)
        vectors.reached.clear()
        await memory.write("ada", [fact("the door is blue", "door", "colour")])
        vectors.let_go["red"].set()
        await vectors.reached.wait()
        found = await memory.search("ada", "door", limit=5)
        assert [match.row.text for match in found.best(5)] == ["the door is blue"]
        vectors.let_go["blue"].set()
