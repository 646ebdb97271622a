"""The memory tools, called by a model over HTTP: write once, search, and forget only what may be forgotten."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, Seen, live

FACT = "Paulina plays the violoncello."
DONE = Reply([Text("Done, as you wished.")])


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, memory_journal=True, embeddings_provider="off") as engine:
        yield engine


def data(frames: list[Seen], kind: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if frame.event == kind]


async def called(aster: Live, model: ModelServer, tool: str, task: str = "t1", **given: Any) -> list[Seen]:
    model.enqueue(Reply([ToolCall(tool, given)]), DONE)
    return await aster.execute("Do what has to be done.", task)


async def wrote(aster: Live, model: ModelServer, text: str = FACT, **given: Any) -> str:
    (result,) = data(await called(aster, model, "memory_write", text=text, **given), "tool_result")
    assert result.get("error") is None, result
    return result["data"]["id"]


async def ids(aster: Live, **params: Any) -> set[str]:
    listed = (await aster.http.get("/memory/records", params=params)).json()["records"]
    return {record["id"] for record in listed}


async def test_what_is_written_has_a_receipt_and_is_kept_once(aster: Live, model: ModelServer) -> None:
    frames = await called(aster, model, "memory_write", text=FACT, about="Paulina")
    (event,) = data(frames, "memory_write")
    (result,) = data(frames, "tool_result")
    assert result["output"] == f"Remembered as {event['id']}."
    assert event["receipt"]["extractor"] == "tool"
    assert event["receipt"]["task_id"] == "t1"
    assert 1 == event["receipt"]["first_seq"] < event["receipt"]["last_seq"] < event["seq"]
    again = data(await called(aster, model, "memory_write", "t2", text=FACT, about="Paulina"), "tool_result")
    assert again[0]["output"] == f"Known already as {event['id']}."
    assert await ids(aster, store="knowledge") == {event["id"]}


async def test_a_fact_that_changed_takes_the_place_of_the_old_one(aster: Live, model: ModelServer) -> None:
    old = await wrote(aster, model)
    new = await wrote(aster, model, "Paulina plays the flute.", replaces=old)
    assert await ids(aster, store="knowledge") == {new}
    history = (await aster.http.get(f"/memory/records/{new}/history")).json()
    assert old in str(history)


async def test_an_episode_can_be_written_too(aster: Live, model: ModelServer) -> None:
    name = await wrote(aster, model, "The concert was cancelled.", kind="episode")
    record = (await aster.http.get(f"/memory/records/{name}")).json()
    assert (record["kind"], record["text"]) == ("episode", "The concert was cancelled.")


async def test_a_secret_is_refused(aster: Live, model: ModelServer) -> None:
    frames = await called(aster, model, "memory_write", text="Her password is bluebird77")
    (result,) = data(frames, "tool_result")
    assert result["error"] == "secret"
    assert not await ids(aster, store="knowledge")


async def test_a_search_shows_ids_and_receipts_as_text_from_outside(aster: Live, model: ModelServer) -> None:
    name = await wrote(aster, model)
    (result,) = data(await called(aster, model, "memory_search", "t2", query="violoncello"), "tool_result")
    assert name in result["output"]
    assert "task t1 #" in result["output"]
    told = [message for message in model.calls[-1].body["messages"] if message["role"] == "tool"][-1]["content"]
    assert told.startswith("<untrusted-")
    (nothing,) = data(await called(aster, model, "memory_search", "t3", query="xylophone"), "tool_result")
    assert nothing["output"] == "Nothing is remembered about that."


async def test_one_record_goes_at_once_and_twice_is_no_harm(aster: Live, model: ModelServer) -> None:
    body = {"kind": "fact", "fields": {"content": FACT}}
    name = (await aster.http.post("/memory/records", json=body)).json()["record"]["id"]
    frames = await called(aster, model, "memory_forget", ids=[name])
    assert [event["action"] for event in data(frames, "memory_write")] == ["forgotten"]
    assert "violoncello" not in str(data(frames, "memory_write"))
    assert name not in await ids(aster)
    (again,) = data(await called(aster, model, "memory_forget", "t2", ids=[name]), "tool_result")
    assert again["output"] == "Nothing with these ids is remembered."


async def test_what_hangs_on_a_record_goes_only_when_a_person_says_so(aster: Live, model: ModelServer) -> None:
    name = await wrote(aster, model)
    frames = await called(aster, model, "memory_forget", "t2", ids=[name])
    (result,) = data(frames, "tool_result")
    assert result["output"].startswith("Nothing was forgotten yet.")
    assert name in await ids(aster)

    model.enqueue(Reply([ToolCall("memory_forget", {"ids": [name], "cascade": True})]), DONE)
    async with aster.executing("Forget it all, please.", "t3") as stream:
        prompt = await stream.until("permission_prompt")
        assert f"- {FACT} ({name})" in prompt.data["reason"].splitlines()
        await stream.until("thread_lifecycle", phase="suspended")
    assert name in await ids(aster)
    async with aster.replaying(task_id="t3") as stream:
        await aster.http.post("/hitl/respond", json={"task_id": "t3", "answer": "yes"})
        await stream.until("thread_lifecycle", phase="completed")
        gone = [frame.data["id"] for frame in stream.seen if frame.event == "memory_write"]
    assert name in gone
    assert len(gone) > 1
    assert not set(gone) & await ids(aster)
