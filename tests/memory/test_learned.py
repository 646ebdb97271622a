"""What was learned is found at once, and what was taken back is found no more, on every replica."""

import asyncio
from pathlib import Path

from aster.brain.changes import Change
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.protocol import Brain
from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.secrets import Secrets
from aster.memory.memory import Memory
from tests.brain.learned import NOW, Drawn, applied, fact
from tests.memory.conftest import WordVectors


async def found(memory: Memory, query: str) -> list[str]:
    known = await memory.known("ada")
    answer = await memory.search("ada", query, known.stores)
    return [match.row.fields["content"] for match in answer.best(9)]


async def opened(brain: Brain) -> Memory:
    await brain.start()
    memory = Memory(brain.memory, Secrets(), WordVectors(), lambda _: None)
    await memory.start()
    return memory


async def test_a_search_follows_what_is_learned_and_taken_back(place: Path | str) -> None:
    brain = SqliteBrain(place) if isinstance(place, Path) else PostgresBrain(place, readers=2)
    memory = await opened(brain)
    assert await found(memory, "where does Ada live") == []
    await applied(brain, Drawn("c1").write(fact("Ada lives in Rome", "Ada", "home", valid_from=5)))
    memory.learned("ada")
    assert await found(memory, "where does Ada live") == ["Ada lives in Rome"]
    await memory.embedded()
    await applied(brain, Drawn("c2").write(fact("Ada lives in Oslo", "Ada", "home")))
    memory.learned("ada")
    await memory.embedded()
    assert await found(memory, "where does Ada live") == ["Ada lives in Oslo"]
    await brain.learning.decide("ada", "c2", "revert", by="ada", now=NOW)
    memory.learned("ada")
    assert await found(memory, "where does Ada live") == ["Ada lives in Rome"]
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    memory.learned("ada")
    assert (await memory.known("ada")).stores == ()
    assert await found(memory, "where does Ada live") == []
    await memory.close()
    await brain.close()


async def test_another_replica_follows_by_itself(database_url: str) -> None:
    brains = PostgresBrain(database_url, readers=2), PostgresBrain(database_url, readers=2)
    here, there = [await opened(brain) for brain in brains]
    told = asyncio.Event()

    def heard(change: Change) -> None:
        there.elsewhere(change)
        if change.touches("memory_receipts"):
            told.set()

    brains[1].changes.watch(heard)
    assert await found(there, "where does Ada live") == []
    await applied(brains[0], Drawn("c1").write(fact("Ada lives in Rome")))
    here.learned("ada")
    await asyncio.wait_for(told.wait(), 10)
    assert await found(there, "where does Ada live") == ["Ada lives in Rome"]
    told.clear()
    await brains[0].learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    here.learned("ada")
    await asyncio.wait_for(told.wait(), 10)
    assert await found(there, "where does Ada live") == []
    for memory, brain in zip((here, there), brains, strict=True):
        await memory.close()
        await brain.close()
