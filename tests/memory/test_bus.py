"""The bus: one question, all stores, one order, and what did not fit."""

from pathlib import Path

from aster.infra.clock import now_ms
from aster.memory.bus import MemoryBus, Wish, tokens_of
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from tests.memory.conftest import episode, fact, opened

PLENTY = 10_000
QUESTION = "Which dog does Anna walk in the park?"


async def texts(memory: Memory, wish: Wish, budget: int = PLENTY) -> list[str]:
    found = await MemoryBus(memory).hydrate("ada", wish, now_ms(), budget)
    return [item.text for item in found.items if item.cut is None]


async def test_every_store_is_asked_and_the_same_words_are_said_once(memory: Memory) -> None:
    same = "Anna walks her dog Bello in the park."
    lesson = Draft("lesson", {"trigger": "Anna walks a dog in the park", "correct_pattern": "Bring a leash."})
    await memory.write("ada", [fact(same), episode(same, task_id="t1"), lesson])
    await memory.embedded()
    found = await MemoryBus(memory).hydrate("ada", Wish(QUESTION), now_ms(), PLENTY)
    assert {item.row.store for item in found.items} == {"knowledge", "lessons"}
    assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)
    again = await MemoryBus(memory).hydrate("ada", Wish(QUESTION), now_ms(), PLENTY)
    assert [item.row.id for item in again.items] == [item.row.id for item in found.items]


async def test_a_blank_question_finds_nothing(memory: Memory) -> None:
    await memory.write("ada", [fact("Anna walks her dog.")])
    assert await texts(memory, Wish(" \n ")) == []


async def test_what_the_task_itself_has_said_is_left_out(memory: Memory) -> None:
    said = "Anna walks her dog Bello in the park."
    await memory.write("ada", [episode(said, task_id="t1")])
    assert await texts(memory, Wish(QUESTION, task_id="t1")) == []
    assert await texts(memory, Wish(QUESTION, task_id="t2")) == [said]


async def test_a_follow_up_is_understood_by_what_was_asked_before(memory: Memory) -> None:
    await memory.write("ada", [fact("Anna walks her dog Bello in the park.")])
    assert await texts(memory, Wish("And what about it?")) == []
    assert await texts(memory, Wish("And what about it?", (QUESTION,)))


async def test_what_does_not_fit_is_passed_over_and_told(memory: Memory) -> None:
    long, short = "Anna walks her dog in the park. " * 40, "Anna's dog walks in the park."
    await memory.write("ada", [fact("Anna walks the dog in the park."), fact(long), fact(short)])
    found = await MemoryBus(memory).hydrate("ada", Wish(QUESTION), now_ms(), 5 * tokens_of(short) // 2)
    by_text = {item.row.text: item.cut for item in found.items}
    assert by_text[short] is None
    assert "budget" in by_text.values()
    assert sum(item.tokens for item in found.items if item.cut is None) <= 5 * tokens_of(short) // 2


async def test_more_of_a_store_is_given_to_who_asks_for_more(memory: Memory) -> None:
    await memory.write("ada", [fact(f"Anna walks dog number {n} in the park.") for n in range(30)])
    await memory.embedded()
    for most in (2, 28):
        found = await MemoryBus(memory).hydrate("ada", Wish(QUESTION), now_ms(), PLENTY, ("knowledge",), most)
        assert sum(item.cut is None for item in found.items) == most


async def test_without_a_model_words_decide_and_it_is_said(path: Path) -> None:
    async with opened(path, "embeddings are off") as memory:
        await memory.write("ada", [fact("Anna walks her dog Bello in the park.")])
        found = await MemoryBus(memory).hydrate("ada", Wish(QUESTION), now_ms(), PLENTY)
        assert [item.row.text for item in found.items] == ["Anna walks her dog Bello in the park."]
        assert found.notice == "found by words alone: embeddings are off"


async def test_what_has_nothing_in_common_with_the_question_stays_out(memory: Memory) -> None:
    others = ("I see what you mean.", "Rain fell on Tuesday.", "Lunch was late.", "Our train left without us.")
    await memory.write("ada", [episode("Anna walks her dog Bello in the park."), *map(episode, others)])
    await memory.embedded()
    assert await texts(memory, Wish(QUESTION)) == ["Anna walks her dog Bello in the park."]
    assert len(await texts(memory, Wish("What did we talk about today?"))) == 5


async def test_another_users_memory_is_not_there(memory: Memory) -> None:
    await memory.write("bob", [fact("Anna walks her dog Bello in the park.")])
    assert await texts(memory, Wish(QUESTION)) == []
    assert not (await memory.known("ada")).anything
    assert (await memory.known("bob")).anything


async def test_whether_anything_is_known_follows_what_is_written_and_forgotten(memory: Memory) -> None:
    assert not (await memory.known("ada")).anything
    (done,) = await memory.write("ada", [fact("Anna walks her dog.")])
    assert (await memory.known("ada")).anything
    await memory.write("ada", [Draft("soul", {"identity": "I am a cook."})])
    soul = (await memory.known("ada")).soul
    assert soul is not None
    assert soul.fields["identity"] == "I am a cook."
    await memory.forget("ada", [done.row.id, soul.id])
    assert not (await memory.known("ada")).anything
