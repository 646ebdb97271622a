"""Ranking over HTTP, with the model that comes with the engine: a turn is given what answers it in other words, and
nothing when the memory it has is about something else."""

from aster.testing import ModelServer, Reply, Text
from tests.engine_core.frames import events
from tests.live import live

KNOWN = (
    "Anna adopted a puppy from the shelter, a beagle called Biscuit.",
    "The launch of the website was moved to the end of May.",
    "Twenty thousand euros may be spent on the campaign.",
    "Anna booked a small hotel near the river in Lisbon.",
    "Ben runs five kilometres before breakfast.",
    "The knee of Anna still hurts, so she only swims.",
)


async def test_a_turn_gets_what_answers_it_and_nothing_else() -> None:
    async with (
        ModelServer() as model,
        live(model, memory_journal=False, embeddings_provider="local") as aster,
    ):
        for content in KNOWN:
            body = {"kind": "fact", "fields": {"content": content}}
            assert (await aster.http.post("/memory/records", json=body)).status_code < 300
        await aster.engine.memory.embedded()
        model.enqueue(*(Reply([Text("I see.")]) for _ in range(3)))
        known = events(await aster.execute("When does the site go live?", "t1"), "memory_retrieval")
        unknown = await aster.execute("Which opera did Verdi write first?", "t2")
        unknown += await aster.execute("What is the capital of Mongolia?", "t3")
    assert known[0]["items"][0]["text"] == KNOWN[1]
    assert events(unknown, "memory_retrieval") == []
