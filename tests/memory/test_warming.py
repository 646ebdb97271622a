"""Large shelves are read after a start, before anybody asks; until then words decide."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aster.brain.sqlite.brain import SqliteBrain
from aster.memory.embeddings.embedder import Embedder
from aster.memory.filling import Filling
from aster.memory.finding import Finder
from aster.memory.shelves import MOST_BYTES, Shelves
from aster.memory.warming import Warming
from tests.memory.conftest import WordVectors, fact, opened

NOW = 4_000_000_000_000


async def written(path: Path, count: int) -> None:
    async with opened(path) as memory:
        for start in range(0, count, 100):
            await memory.write("ada", [fact(f"The puppy number {n} barks") for n in range(start, start + 100)])
        await memory.write("bob", [fact("A cat")])
        await memory.embedded()


@asynccontextmanager
async def parts(path: Path, most_bytes: int = MOST_BYTES) -> AsyncIterator[tuple[Warming, Finder, Shelves]]:
    brain = SqliteBrain(path)
    await brain.start()
    embedder: Embedder = WordVectors()
    filling = Filling(brain.memory, embedder, lambda _: None)
    shelves = Shelves(most_bytes)
    warming = Warming(brain.memory, shelves, filling, large=100)
    try:
        await filling.start()
        yield warming, Finder(brain.memory, shelves, filling, None, warming.cold), shelves
    finally:
        await warming.close()
        await filling.close()
        await brain.close()


async def test_a_large_shelf_is_there_before_anybody_asks(path: Path) -> None:
    await written(path, 300)
    async with parts(path) as (warming, finder, shelves):
        await warming.start()
        assert warming.cold == {("ada", "knowledge")}
        early = await finder.search("ada", "puppy 7", ["knowledge"], limit=3, now=NOW, gate=False)
        assert "7" in early.best(1)[0].row.text
        assert early.notice is not None
        assert "still being read" in early.notice
        await warming.done()
        assert not warming.cold
        assert len(shelves.kept(("ada", "knowledge"), 1, 64).rows) == 300
        late = await finder.search("ada", "hound 7", ["knowledge"], limit=3, now=NOW, gate=False)
        assert late.notice is None
        assert late.best(1)[0].reasons["cosine"] > 0.5


async def test_what_has_no_room_is_read_when_it_is_asked_for(path: Path) -> None:
    await written(path, 300)
    async with parts(path, most_bytes=1000) as (warming, finder, _):
        await warming.start()
        assert not warming.cold
        await warming.done()
        found = await finder.search("ada", "hound 7", ["knowledge"], limit=3, now=NOW, gate=False)
        assert (found.notice, len(found.best(3))) == (None, 3)


async def test_an_engine_that_stops_meanwhile_stops(path: Path) -> None:
    await written(path, 100)
    async with parts(path) as (warming, _, _):
        await warming.start()
        await warming.close()
