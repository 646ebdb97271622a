"""Shelves in memory: as many as fit, and two users' never mixed."""

import asyncio
from pathlib import Path

import numpy as np

from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.secrets import Secrets
from aster.memory.documents import Document
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from aster.memory.retrieval.shelf import Item
from aster.memory.shelves import Shelves
from tests.memory.conftest import fact


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
