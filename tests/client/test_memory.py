"""Memory through the SDK: found with its receipt, corrected, forgotten with a preview, and taken along."""

import json
from collections.abc import AsyncIterator

import pytest_asyncio

from aster.client import AsterClient
from aster.testing import ModelServer
from tests.live import live


@pytest_asyncio.fixture(loop_scope="module")
async def client(model: ModelServer) -> AsyncIterator[AsterClient]:
    async with live(model) as engine, AsterClient(engine.url) as connected:
        yield connected


async def test_a_memory_says_where_it_came_from_and_goes_with_what_hangs_on_it(
    client: AsterClient, task: str
) -> None:
    await client.ask("[[text=2]]", task)
    fact = {"subject": "Ada", "predicate": "lives in", "content": "Ada lives in Turin"}
    written = await client.memory.write("fact", fact, task_id=task, first_seq=1, last_seq=2)
    record = written.record
    derived = await client.memory.write("fact", {"content": "Ada is Italian"}, derived_from=[record.id])
    hits = (await client.memory.search("Where does Ada live?")).hits
    assert record.id in [hit.id for hit in hits]
    assert record.id in [hit.id for hit in await client.memory.search_store("knowledge", "Ada Turin")]
    whole = await client.memory.receipt(derived.record.id)
    assert [source.id for source in whole.sources] == [record.id]
    assert whole.used_in == ()
    first = await client.memory.receipt(record.id)
    assert (first.receipt.task_id, first.receipt.first_seq, first.receipt.last_seq) == (task, 1, 2)
    corrected = await client.memory.correct(record.id, {"content": "Ada lives in Milan"})
    assert [one.fields["content"] for one in await client.memory.history(corrected.record.id)] == [
        "Ada lives in Turin",
        "Ada lives in Milan",
    ]
    doomed = await client.memory.preview([corrected.record.id])
    assert {one.id for one in doomed.records} >= {corrected.record.id, record.id, derived.record.id}
    assert [(one.task_id, one.why) for one in doomed.tasks] == [(task, "source")]
    gone = await client.memory.forget([corrected.record.id])
    assert set(gone.forgotten) == {one.id for one in doomed.records}
    assert (await client.memory.list(store="knowledge")).records == ()


async def test_documents_notes_lessons_and_people(client: AsterClient, task: str) -> None:
    added = await client.memory.add_document("handbook", "The door code is 4711.", title="Handbook")
    assert (added.document, added.parts, added.new) == ("handbook", 1, 1)
    assert [one.title for one in (await client.memory.documents()).documents] == ["Handbook"]
    assert (await client.memory.forget(documents=["handbook"])).forgotten
    note = {"text": "Look at the log", "type": "note"}
    await client.memory.write("note", note, task_id=task)
    assert [one.text for one in await client.memory.working(task)] == ["Look at the log"]
    lesson = {"trigger": "deploying", "mistake": "no backup", "correct_pattern": "back up first"}
    made = (await client.memory.write("lesson", lesson)).record
    marked = await client.memory.mark(made.id, helpful=True)
    assert marked.fields["utility"] > made.fields["utility"]
    await client.memory.write("edge", {"source": "Ada", "relation": "knows", "target": "Bob"})
    assert "Bob" in (await client.memory.social_paths("Ada"))[0].text
    moved = {"subject": "Ada", "predicate": "lives in"}
    for city in ("Turin", "Milan"):
        await client.memory.write("fact", {**moved, "content": f"Ada lives in {city}"})
    (found,) = await client.memory.contradictions()
    assert ("Turin" in found.old, "Milan" in found.new) == (True, True)


async def test_the_soul_keeps_its_history(client: AsterClient) -> None:
    await client.memory.change_soul("A clerk")
    changed = await client.memory.change_soul("A careful clerk", values=["honesty"], voice="dry")
    assert (changed.identity, changed.values, changed.voice) == ("A careful clerk", ("honesty",), "dry")
    assert await client.memory.soul() == changed
    whole = await client.memory.soul_history()
    assert (whole.identity, whole.version) == (changed.identity, changed.version)
    assert [one.fields["identity"] for one in whole.versions] == ["A careful clerk", "A clerk"]


async def test_everything_is_taken_along_and_forgotten(client: AsterClient) -> None:
    await client.memory.write("fact", {"content": "Tea is at four"})
    bundle = json.loads(b"".join([piece async for piece in client.memory.export()]))
    assert (await client.memory.statistics(everyone=True)).users is not None
    wiped = await client.memory.wipe(confirm="everything")
    assert wiped.forgotten >= 1
    assert (await client.memory.search("tea")).hits == ()
    assert (await client.memory.take_in(bundle)).imported >= 1
    assert [hit.fields["content"] for hit in (await client.memory.search("tea")).hits] == ["Tea is at four"]
