"""Several replicas on one database remember as one: what one writes, corrects or forgets, all know."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from aster.brain.changes import Change
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.postgres.connection import PostgresConnection
from aster.brain.postgres.memory import SHARE_MS, take_share
from aster.brain.records import ThreadKey
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.memory.memory import Memory
from tests.memory.conftest import WordVectors, edge, episode, fact, opened


@pytest.fixture
async def first(database_url: str) -> AsyncIterator[Memory]:
    async with opened(database_url) as memory:
        yield memory


@pytest.fixture
async def second(database_url: str, first: Memory) -> AsyncIterator[Memory]:
    async with opened(database_url) as memory:
        yield memory


async def found(memory: Memory, question: str, user_id: str = "ada") -> list[str]:
    return [match.row.text for match in (await memory.search(user_id, question, limit=50)).best(50)]


def held(memory: Memory, user_id: str = "ada") -> int:
    """How many records of a user a replica has in memory."""
    shelves = cast("Any", memory)._shelves._kept
    return sum(len(kept.rows) for (owner, _), kept in shelves.items() if owner == user_id)


async def test_what_one_writes_the_other_finds_at_once(first: Memory, second: Memory) -> None:
    assert await found(second, "dog") == []
    await first.write("ada", [fact("The dog sleeps"), fact("The car is red")])
    assert (await found(second, "dog"))[0] == "The dog sleeps"
    await first.embedded()
    assert (await found(second, "puppy"))[0] == "The dog sleeps"
    assert await found(second, "dog", "bob") == []


async def test_what_one_forgets_the_other_holds_no_more(first: Memory, second: Memory) -> None:
    dog, car = await first.write("ada", [fact("The dog sleeps"), fact("The car is red")])
    await first.embedded()
    assert len(await found(second, "dog car")) == held(second) == 2
    await first.forget("ada", [dog.row.id])
    assert await found(second, "puppy dog") == ["The car is red"]
    assert held(second) == 1
    await first.correct("ada", car.row.id, {"content": "The car is blue"}, "person")
    assert await found(second, "automobile") == ["The car is blue"]
    assert held(second) == 1
    await first.wipe("ada")
    assert await found(second, "car") == []
    assert held(second) == 0


async def test_a_name_that_changes_changes_everywhere(first: Memory, second: Memory) -> None:
    done = await first.write("ada", [edge("Zoe", "knows", "Bob")])
    assert "Zoe knows Bob" in await found(second, "Zoe")
    (zoe,) = [row for row in await first.page("ada", limit=9, store="social") if row.fields.get("name") == "Zoe"]
    await first.correct("ada", zoe.id, {"name": "Chloe"}, "person")
    texts = await found(second, "Chloe Bob")
    assert "Chloe knows Bob" in texts
    assert not any("Zoe" in text for text in texts)
    assert done[0].row.kind == "edge"


async def test_who_missed_too_much_reads_all_anew(first: Memory, second: Memory, database_url: str) -> None:
    done = await first.write("ada", [fact(f"dog number {n}") for n in range(12)])
    assert len(await found(second, "dog")) == 12
    await first.forget("ada", [written.row.id for written in done[:8]])
    db = PostgresConnection(database_url)
    db.execute("DELETE FROM memory_touched WHERE place <= 5")
    db.sync()
    db.close()
    assert sorted(await found(second, "dog")) == sorted(f"dog number {n}" for n in range(8, 12))
    assert held(second) == 4


async def test_the_same_said_to_both_is_kept_once(first: Memory, second: Memory) -> None:
    said = [memory.write("ada", [fact(f"fact {n}")]) for n in range(15) for memory in (first, second)]
    actions = [written.action for done in await asyncio.gather(*said) for written in done]
    assert sorted(actions) == ["created"] * 15 + ["duplicate"] * 15
    assert len(await found(first, "fact")) == 15


async def test_whoever_follows_a_shelf_misses_nothing(first: Memory, second: Memory, database_url: str) -> None:
    """Numbers of one shelf become visible in their order, though two replicas draw them at the same time."""
    seen: list[int] = []
    async with opened(database_url, "no model") as third:
        done = asyncio.Event()

        async def follow() -> None:
            while not done.is_set():
                await third.search("ada", "word", ["episodes"])
                seen.append(held(third))

        following = asyncio.create_task(follow())
        await asyncio.gather(
            *(
                memory.write("ada", [episode(f"word {n} of {name}", name) for n in range(start, start + 5)])
                for start in range(0, 100, 5)
                for name, memory in (("one", first), ("two", second))
            )
        )
        done.set()
        await following
        await third.search("ada", "word", ["episodes"])
        assert held(third) == 200
    assert seen == sorted(seen)


async def test_every_text_is_embedded_once(database_url: str) -> None:
    one, two = WordVectors(), WordVectors()
    async with opened(database_url, one) as first, opened(database_url, two) as second:
        await asyncio.gather(
            first.write("ada", [fact(f"one {n}") for n in range(40)]),
            second.write("bob", [fact(f"two {n}") for n in range(40)]),
        )
        await asyncio.gather(first.embedded(), second.embedded())
        texts = one.asked + two.asked
        assert len(texts) == len(set(texts)) == 80
        assert (await first.statistics(None)).pending == 0


class Stuck(WordVectors):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.reached.set()
        await asyncio.Event().wait()
        return await super().embed(texts)


async def test_the_share_of_a_replica_that_died_is_taken_over(database_url: str) -> None:
    stuck = Stuck()
    async with opened(database_url, stuck) as first:
        await first.write("ada", [fact("The dog sleeps")])
        await stuck.reached.wait()
        db = PostgresConnection(database_url)
        db.serve(None)
        model = int(db.execute("SELECT model FROM memory_models").fetchone()[0])
        db.sync()
        db.execute("BEGIN")
        assert take_share(db, "another", model, 8, now_ms()) == []
        assert [row.text for row in take_share(db, "another", model, 8, now_ms() + SHARE_MS)] == ["The dog sleeps"]
        assert take_share(db, "another", model + 1, 8, now_ms() + SHARE_MS) == [], "a model whose time is over"
        db.execute("ROLLBACK")
        db.close()


async def test_two_versions_that_begin_at_once_agree_on_one_model(database_url: str) -> None:
    brains = [PostgresBrain(database_url, readers=1) for _ in range(2)]
    for brain in brains:
        await brain.start()
    states = await asyncio.gather(
        *(
            brain.memory.begin_model(name)
            for _ in range(5)
            for brain, name in zip(brains, ("old", "new"), strict=True)
        )
    )
    assert len({state.model for state in states}) == 2
    db = PostgresConnection(database_url)
    assert db.execute("SELECT count(*) FROM memory_models WHERE role = 'current'").fetchone() == (1,)
    db.close()
    for brain in brains:
        await brain.close()


async def test_an_older_version_stops_making_vectors_and_goes_on_finding(database_url: str) -> None:
    old, new = WordVectors("old"), WordVectors("new")
    async with opened(database_url, old) as first:
        await first.write("ada", [fact("The dog sleeps"), fact("The car is red")])
        await first.embedded()
        assert (await found(first, "puppy"))[0] == "The dog sleeps"
        async with opened(database_url, new) as second:
            await second.embedded()
            old.asked.clear()
            await first.write("ada", [fact("The doctor is in")])
            await second.write("ada", [fact("The tea is hot")])
            await second.embedded()
            assert (await found(second, "physician"))[0] == "The doctor is in"
            assert "The doctor is in" in await found(first, "doctor")
            assert old.asked == ["puppy", "doctor"] or "The doctor is in" not in old.asked


async def test_a_user_who_is_known_elsewhere_is_known_here(first: Memory, database_url: str) -> None:
    brain = PostgresBrain(database_url, readers=1)
    await brain.start()
    memory = Memory(brain.memory, Secrets(), "no model", lambda _: None)
    told = asyncio.Event()
    brain.changes.watch(memory.elsewhere)
    brain.changes.watch(lambda change: told.set() if change.touches("memory_receipts") else None)
    assert not (await memory.known("ada")).anything
    await first.write("ada", [fact("The dog sleeps")])
    async with asyncio.timeout(5):
        await told.wait()
    assert (await memory.known("ada")).stores == ("knowledge",)
    await brain.close()


async def test_a_turn_elsewhere_concerns_its_own_user_alone(memory: Memory) -> None:
    await memory.write("ada", [fact("The dog sleeps")])
    ada, bob = await memory.known("ada"), await memory.known("bob")
    memory.elsewhere(Change(frozenset({ThreadKey("ada", "t1")}), frozenset({"memory_receipts"})))
    assert await memory.known("bob") is bob
    assert await memory.known("ada") is not ada
    memory.elsewhere(Change(frozenset(), frozenset({"usage"})))
    assert await memory.known("bob") is bob


async def test_a_reader_sees_its_users_shelf_and_no_other(database_url: str, first: Memory) -> None:
    """The database itself keeps users apart, also inside a look at a shelf."""
    await first.write("ada", [fact("The dog sleeps")])
    brain = PostgresBrain(database_url, readers=1)
    await brain.start()

    def peek(reader: Any) -> list[tuple[int]]:
        return reader._db.execute("SELECT count(*) FROM memory_receipts").fetchall()

    assert await brain.memory.look("bob", "knowledge", peek) == [(0,)]
    assert await brain.memory.look("ada", "knowledge", peek) == [(1,)]
    await brain.close()


CORPUS = Path(__file__).parent / "passages"
EARLIER, LATER = 1_700_000_000_000, 4_000_000_000_000


async def test_both_databases_give_the_same_answers(path: Path, database_url: str) -> None:
    lines = [line.strip() for file in sorted(CORPUS.glob("*.py")) for line in file.read_text().splitlines()]
    texts = list(dict.fromkeys(line for line in lines if len(line) > 20))[:600]
    questions = [
        *texts[::60],
        "what is kept of a file",
        "async def test",
        "numpy ndarray of vectors",
        "überhaupt 東京",
    ]
    answers: list[list[list[tuple[str, float]]]] = []
    for place in (path, database_url):
        async with opened(place) as memory:
            for start in range(0, len(texts), 100):
                await memory.write("bob", [fact(text, event_at=EARLIER) for text in texts[start : start + 50]])
                await memory.write("ada", [fact(text, event_at=EARLIER) for text in texts[start : start + 100]])
            await memory.embedded()
            answers.append(
                [
                    [
                        (m.row.text, round(m.score, 6))
                        for m in (await memory.search("ada", text, now=LATER)).best(20)
                    ]
                    for text in questions
                ]
            )
    assert answers[0] == answers[1]
    assert all(answers[0])
