"""Forgetting: the preview says what goes, all of it goes, and no byte of it stays in the file or beside it."""

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest

from aster.brain.memory_records import Span
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.memory.documents import Document
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from tests.memory.conftest import edge, episode, fact, opened, raw

WORD = "Zyxomantic"


def traces(path: Path, *texts: str) -> list[str]:
    """Those of the texts that can still be read, in whatever case the index wrote them."""
    content = raw(path).lower()
    return [text for text in texts if text.lower().encode() in content]


async def test_the_preview_names_everything_that_hangs_on_it(memory: Memory) -> None:
    source = (await memory.write("ada", [episode("I sold the boat", task_id="t1", first_seq=1, last_seq=3)]))[0].row
    derived = (await memory.write("ada", [fact("Ada has no boat", derived_from=(source.id,), task_id="t1")]))[0].row
    lesson = Draft("lesson", {"trigger": "boats", "correct_pattern": "do not ask"}, derived_from=(derived.id,))
    last = (await memory.write("ada", [lesson]))[0].row
    other = (await memory.write("ada", [fact("Ada has a bicycle")]))[0].row
    corrected = (await memory.correct("ada", derived.id, {"content": "Ada has no boat any more"}, "person")).row
    await memory.use("ada", [corrected.id], "t9", "turn-9")
    found = await memory.preview("ada", [source.id])
    assert {(one.row.id, one.why, one.because) for one in found.records} == {
        (source.id, "asked", source.id),
        (derived.id, "derived", source.id),
        (corrected.id, "derived", source.id),
        (last.id, "derived", derived.id),
    }
    assert (found.sources, [use.task_id for use in found.uses]) == (["t1"], ["t9"])
    assert len(await memory.page("ada", limit=9, superseded=True)) == 5, "a preview changes nothing"
    assert len(await memory.forget("ada", [source.id])) == 4
    assert [row.id for row in await memory.page("ada", limit=9, superseded=True)] == [other.id]


async def test_forgetting_a_person_forgets_what_is_said_of_them(memory: Memory) -> None:
    made = (await memory.write("ada", [edge("Ada", "knows", "Bob"), edge("Bob", "likes", "tea")]))[0].row
    gone = await memory.forget("ada", [made.fields["target_id"]])
    assert {row.text for row in gone} == {"Bob (other)", "Ada knows Bob", "Bob likes tea"}


async def test_an_earlier_truth_is_another_memory_and_a_mistake_is_not(memory: Memory) -> None:
    rome = fact("in Rome", "Ada", "home", valid_from=1)
    now = (await memory.write("ada", [rome, fact("in Oslo", "Ada", "home")]))[1].row
    fixed = (await memory.correct("ada", now.id, {"content": "in Bergen"}, "person")).row
    assert {row.fields["content"] for row in await memory.forget("ada", [fixed.id])} == {"in Bergen", "in Oslo"}
    assert [row.fields["content"] for row in await memory.page("ada", limit=9, superseded=True)] == ["in Rome"]


async def test_a_part_of_a_thread_is_forgotten_with_what_came_from_it(memory: Memory) -> None:
    await memory.write("ada", [episode(f"line {n}", task_id="t1", first_seq=n, last_seq=n) for n in range(1, 6)])
    found = await memory.preview("ada", [], [Span("t1", 2, 3)])
    assert [one.row.text for one in found.records] == ["line 2", "line 3"]
    assert len((await memory.preview("ada", [], [Span("t1")])).records) == 5
    assert (await memory.preview("bob", [], [Span("t1")])).records == []


async def test_nobody_forgets_for_somebody_else(memory: Memory) -> None:
    made = (await memory.write("ada", [fact("Ada's own")]))[0].row
    with pytest.raises(EngineError) as refused:
        await memory.preview("bob", [made.id])
    assert refused.value.code is ErrorCode.NOT_FOUND
    assert await memory.forget("bob", [made.id]) == []
    await memory.write("bob", [fact("Bob's", derived_from=(made.id,))])
    assert [row.text for row in await memory.forget("ada", [made.id])] == ["Ada's own"]


async def test_no_byte_is_left(path: Path) -> None:
    async with opened(path) as memory:
        drafts = [
            fact(f"{WORD}1 is the password hint", f"{WORD}2", f"{WORD}3"),
            episode(f"we spoke of {WORD}4", f"{WORD}5"),
            edge(f"{WORD}6", "knows", f"{WORD}7"),
            Draft("node", {"name": f"{WORD}8", "attributes": {"born": f"{WORD}9"}}),
            Draft("lesson", {"trigger": f"{WORD}10", "correct_pattern": "x", "domains": [f"{WORD}11"]}),
            Draft("trait", {"category": "root", "key": "pet", "value": f"{WORD}12"}),
            Draft("chunk", {"document": f"{WORD}13", "content": f"{WORD}14 " + "long " * 2000}),
            Draft("soul", {"identity": f"{WORD}15"}),
            Draft("note", {"text": f"{WORD}16"}, task_id="t1"),
        ]
        kept = await memory.write("ada", [fact(f"number {n} stays") for n in range(200)])
        done = await memory.write("ada", drafts)
        first = done[0].row
        fixed = (await memory.correct("ada", first.id, {"content": f"{WORD}17 it is"}, "person")).row
        await memory.embedded()
        await memory.search("ada", WORD)
        vector = await memory._store.look("ada", "knowledge", lambda reader: reader.vectors_of(1, [fixed.number]))  # pyright: ignore[reportPrivateUsage]
        names = [f"{WORD}{n}" for n in range(1, 18)]
        assert traces(path, *names) == names
        assert vector[fixed.number] in raw(path)
        nodes = [done[2].row.fields["source_id"], done[2].row.fields["target_id"]]
        await memory.forget("ada", [fixed.id, *nodes, *(written.row.id for written in done[1:])])
        assert traces(path, WORD, WORD[3:], *names) == []
        assert vector[fixed.number] not in raw(path)
        assert len(await memory.page("ada", limit=500)) == len(kept)
        found = await memory.search("ada", f"{WORD}1 number 7", ["knowledge"], limit=3)
        assert found.stores["knowledge"][0].row.text == "number 7 stays"
        check = sqlite3.connect(path)
        assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        check.execute("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')")
        check.close()


async def test_no_byte_is_left_after_much_coming_and_going(path: Path) -> None:
    """Pages split and merge, and words share their prefixes in the index: what goes must go from all of it."""
    chance = random.Random(7)
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    async with opened(path, "no model") as memory:
        alive: dict[str, str] = {}
        gone: list[str] = []
        for _ in range(12):
            marked = ["q" + "".join(chance.choices(alphabet, k=11)) for _ in range(40)]
            drafts = [
                episode(f"{mark} {' '.join(chance.choices(alphabet, k=chance.randint(5, 300)))}") for mark in marked
            ]
            done = await memory.write("ada", drafts)
            alive |= {written.row.id: mark for written, mark in zip(done, marked, strict=True)}
            doomed = chance.sample(sorted(alive), 25)
            gone += [alive.pop(name) for name in doomed]
            await memory.forget("ada", doomed)
            assert traces(path, *gone) == []
        assert set(traces(path, *alive.values())) == set(alive.values())


async def test_a_wipe_leaves_the_others(path: Path) -> None:
    async with opened(path) as memory:
        await memory.write("ada", [fact(f"{WORD} {n}") for n in range(450)])
        await memory.write("bob", [fact("Bob's cat")])
        await memory.embedded()
        assert await memory.wipe("ada") == 450
        assert traces(path, WORD) == []
        assert await memory.page("ada", limit=9, superseded=True) == []
        found = await memory.search("bob", "cat", ["knowledge"])
        assert [match.row.text for match in found.stores["knowledge"]] == ["Bob's cat"]
        again = (await memory.write("ada", [fact("a new start")]))[0]
        assert [match.row.id for match in (await memory.search("ada", "start")).best(3)] == [again.row.id]


async def test_a_document_is_forgotten_by_its_name(path: Path) -> None:
    async with opened(path) as memory:
        text = "\n\n".join(f"{WORD} chapter {n}. " + "filler " * 150 for n in range(5))
        await memory.ingest("ada", Document("guide", text), Draft("chunk", {}))
        await memory.ingest("ada", Document("other", "stays"), Draft("chunk", {}))
        found = await memory.preview("ada", [], documents=["guide"])
        await memory.forget("ada", [one.row.id for one in found.records])
        assert [row.text for row in await memory.page("ada", limit=9)] == ["stays"]
        assert traces(path, WORD) == []


async def test_a_forget_that_died_half_way_is_finished_at_the_next_start(path: Path) -> None:
    async with opened(path) as memory:
        await memory.write("ada", [fact(f"{WORD} {n}") for n in range(30)])
        kept = (await memory.write("ada", [fact("stays")]))[0].row
    brain = SqliteBrain(path)
    await brain.start()
    rows = await brain.memory.page("ada", limit=99)
    await brain.memory.forget("ada", [row.id for row in rows if row.id != kept.id])
    assert traces(path, WORD) == [WORD], "the rows are gone and their traces are not"
    await brain.close()
    async with opened(path) as memory:
        assert traces(path, WORD) == []
        assert [row.id for row in await memory.page("ada", limit=9)] == [kept.id]


async def test_forgetting_goes_on_while_others_write(path: Path) -> None:
    async with opened(path) as memory:
        done = await memory.write("ada", [fact(f"{WORD} {n}") for n in range(40)])

        async def others() -> None:
            for n in range(40):
                await memory.write("bob", [fact(f"bob says {n}")])

        await asyncio.gather(others(), *(memory.forget("ada", [written.row.id]) for written in done))
        assert traces(path, WORD) == []
        assert len(await memory.page("bob", limit=99)) == 40
