"""A long message is put into questions by the worker model when there is one; without it, or when it fails, nothing is
lost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aster.engine_core.inquiry import LONGEST, MOST, told
from aster.testing import Failure, Hold, ModelServer, Reply, Text
from tests.engine_core.frames import events, last
from tests.live import Live, live

FACTS = ("Paulina plays the violoncello.", "The allotment key hangs behind the blue door.")
LONG = (
    "I am putting together everything for the weekend with the whole family and I would like you to help me make one"
    " list of the things that we ought to bring along for each of us, please."
)

AGAIN = (
    "Would you please be so kind as to tell me what it was that Paulina plays, and is it the violoncello that she plays"
    " or is it not?"
)


@asynccontextmanager
async def family(model: ModelServer, worker: ModelServer) -> AsyncIterator[Live]:
    pool = f"{worker.url}/v1|gpt-4o-mini"
    async with live(model, llm_pool_worker=pool, task_titles=False, embeddings_provider="off") as aster:
        for content in FACTS:
            await aster.http.post("/memory/records", json={"kind": "fact", "fields": {"content": content}})
        yield aster


async def test_what_the_worker_asks_is_searched_too_and_paid_as_no_step(model: ModelServer) -> None:
    async with ModelServer() as worker, family(model, worker) as aster:
        worker.enqueue(
            Reply([Text('Sure: ["Which instrument does Paulina play?", "Where is the allotment key?"]')])
        )
        model.enqueue(Reply([Text("Here is your list.")]))
        frames = await aster.execute(LONG, "t1")
        (found,) = events(frames, "memory_retrieval")
        assert {item["text"] for item in found["items"]} == set(FACTS)
        assert [usage.get("purpose", "step") for usage in events(frames, "usage")] == ["recall", "step"]
        assert "untrusted" in str(worker.calls[0].body["messages"][-1])
        model.enqueue(Reply([Text("The violoncello.")]))
        await aster.execute("Which instrument does Paulina play?", "t2")
        assert len(worker.calls) == 1, "a short message is one question"


@pytest.mark.parametrize(
    "answer", [Reply([Text("I cannot do that.")]), Failure(kind="authentication"), Reply([Hold()])]
)
async def test_a_worker_that_fails_or_takes_too_long_is_done_without(
    model: ModelServer, answer: Reply | Failure
) -> None:
    async with ModelServer() as worker, family(model, worker) as aster:
        worker.enqueue(answer)
        model.enqueue(Reply([Text("Here is your list.")]))
        frames = await aster.execute(AGAIN, "t1")
        assert last(frames)["phase"] == "completed"
        (found,) = events(frames, "memory_retrieval")
        assert found["items"][0]["text"] == FACTS[0]


@pytest.mark.parametrize("answer", ["", "[", "no list", "[1, 2]", '{"a": ["b"]}', '[["a"]]'])
def test_what_is_no_list_of_questions_is_none(answer: str) -> None:
    assert told(answer) in ((), ("b",))


def test_questions_are_few_and_short() -> None:
    assert told('["a", "a", " b\\n c ", "", "d", "e"]') == ("a", "b c", "d")
    assert len(told(f'["{"x" * 9999}"]')[0]) == LONGEST
    assert len(told('["1", "2", "3", "4"]')) == MOST
