"""What a compaction leaves behind: the thread can be edited, forked and taken up again on either side of it."""

from pathlib import Path
from typing import Any

from aster.brain.records import ThreadKey
from aster.testing import Hold, ModelServer, RecordedCall, Reply, Text, ToolCall
from tests.engine_core.compaction.talk import filler, reads, results, says, shown, text_in
from tests.engine_core.compaction.test_orchestrator import SUMMARY, answering, chat, chatting, fill, small
from tests.engine_core.frames import events, last
from tests.live import Live, live


async def message_ids(aster: Live) -> list[str]:
    return [data["message_id"] for data in events(await aster.replay(task_id="t1"), "user_message")]


async def test_an_edit_before_the_boundary_sees_what_was_there() -> None:
    async with small(answering(chatting)) as (aster, model):
        await fill(aster)
        ids = await message_ids(aster)
        await aster.execute("Another way.", edit_message_id=ids[4])
        text = text_in(model.calls[-1])
        assert SUMMARY not in text
        assert all(filler(880, number) in text for number in range(4))
        await aster.execute("And on.")
        assert SUMMARY not in text_in(model.calls[-1])


async def test_an_edit_behind_the_boundary_sees_the_view() -> None:
    async with small(answering(chatting)) as (aster, model):
        _, turns = await fill(aster)
        await chat(aster, 2, first=turns)
        await aster.execute("Another way.", edit_message_id=(await message_ids(aster))[-1])
        text = text_in(model.calls[-1])
        assert SUMMARY in text
        assert filler(880, 4) not in text


async def test_a_restart_goes_on_with_the_view(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    async with small(answering(chatting), sqlite_db_path=brain) as (aster, model):
        _, turns = await fill(aster)
        await chat(aster, 1, first=turns)
        before = shown(model.calls[-1])
    async with small(answering(chatting), sqlite_db_path=brain) as (aster, model):
        await chat(aster, 1, first=turns + 1)
        after = shown(model.calls[-1])
    assert after[: len(before)] == before, "byte for byte, so that caches hold"
    assert len(after) == len(before) + 2


async def test_what_is_read_back_is_what_is_sent_not_what_is_stored() -> None:
    async with small(answering(chatting)) as (aster, _):
        _, turns = await fill(aster)
        await chat(aster, 2, first=turns)
        key = ThreadKey("default", "t1")
        thread = await aster.engine.brain.thread(key)
        assert thread is not None
        assert thread.tip_turn_id is not None
        way = await aster.engine.brain.way_back(key, thread.tip_turn_id, None)
        assert way.view is not None
        assert len(way.turns) < 6


async def test_a_turn_that_was_cut_in_the_middle_goes_on_with_its_view(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text(filler(2000, number))
    settings: dict[str, Any] = {"sqlite_db_path": brain, "allowed_roots": str(tmp_path)}
    async with small(chatting, context_window=24_000, **settings) as (aster, model):
        model.enqueue(
            *(reads(f"{number}.txt") for number in range(18)), Reply([Text("half"), Hold("stop"), Text("way")])
        )
        async with aster.executing("Read them all.") as stream:
            await stream.until("compaction_event")
            await model.wait_held("stop")
            before = shown(model.calls[-1])
            await aster.engine.drain(0)
    async with small(chatting, context_window=24_000, **settings) as (aster, model):
        await model.wait_calls(1)
        frames = await aster.replay(task_id="t1")
        assert last(frames)["stop_reason"] == "end_turn"
        assert shown(model.calls[0]) == before
        assert "Earlier result of read_file" in text_in(model.calls[0])
        assert len(events(frames, "compaction_event")) == 1


async def test_a_fork_takes_its_view_and_its_transcript_along() -> None:
    def work(call: RecordedCall) -> Reply:
        if "Find it" not in call.text:
            return chatting(call)
        asked = ToolCall("grep", {"path": "artifact:transcript", "pattern": "^Request 4:|line 4-2"})
        return Reply([asked]) if call.round == 0 else says("found")

    async with small(answering(work)) as (aster, model):
        _, turns = await fill(aster)
        await chat(aster, 1, first=turns)
        head = (await aster.http.get("/tasks/t1")).json()["head_seq"]
        late = await aster.http.post("/tasks/t1/fork", json={"seq": head, "task_id": "late"})
        ends = [
            data for data in events(await aster.replay(task_id="t1"), "thread_lifecycle") if "stop_reason" in data
        ]
        early = await aster.http.post("/tasks/t1/fork", json={"seq": ends[7]["seq"], "task_id": "early"})
        assert (late.status_code, early.status_code) == (201, 201)
        assert (await aster.http.delete("/tasks/t1")).status_code == 200
        await aster.execute("Find it", "late")
        assert SUMMARY in text_in(model.calls[-1])
        assert "line 4-2: the quick brown fox" in results(model.calls[-1])[-1]
        await aster.execute("hello", "early")
        assert all(filler(880, number) in text_in(model.calls[-1]) for number in range(8))
        assert SUMMARY not in text_in(model.calls[-1])


async def test_a_task_that_is_deleted_takes_its_views_along(model: ModelServer) -> None:
    async with live(model, memory_enabled=False) as aster:
        for number in range(4):
            model.enqueue(says(filler(3000, number)))
            await aster.execute(filler(1500, number))
        model.enqueue(says("short"))
        assert (await aster.http.post("/tasks/t1/compact", json={})).json()["status"] == "compacted"
        (event,) = events(await aster.replay(task_id="t1"), "compaction_event")
        assert await aster.engine.brain.compaction("default", event["compaction_id"]) is not None
        assert await aster.engine.brain.compaction("somebody else", event["compaction_id"]) is None
        await aster.http.delete("/tasks/t1")
        assert await aster.engine.brain.compaction("default", event["compaction_id"]) is None
