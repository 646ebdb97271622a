"""What sub-agents do, on the thread of the task they work for: shown there, left out on request, part of nothing."""

import sqlite3
from pathlib import Path
from typing import Any

from aster.client import AsterClient, Transcript
from aster.client.transcript import Note, ToolCard
from aster.contracts.events import ToolProgress
from aster.engine_core.agents.showing import PROGRESS_SECONDS, SHOWN_CHARS, Pace
from aster.infra.clock import now_ms
from aster.testing import ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events, last, shown
from tests.live import Live, live, text_of

LONG = "x" * (SHOWN_CHARS * 2)
TODO = ToolCall("todo_write", {"todos": [{"content": "look", "status": "in_progress"}]}, id="todo")
WRITE = ToolCall("write_file", {"path": "n.txt", "content": LONG}, id="w")
READ = ToolCall("read_file", {"path": "none.txt"}, id="r")
SHOWS = ("tool_call", "tool_result", "tool_error", "usage", "todo_update", "content_block_stop")


def spawn(prompt: str = "work", **more: Any) -> ToolCall:
    return ToolCall("spawn_agent", {"prompt": prompt, **more}, id="s1")


def busy_child() -> list[Rule]:
    return [
        Rule(Reply([Text("The parent is done.")]), tool="spawn_agent"),
        Rule(Reply([spawn()]), match="^go", round=0),
        Rule(Reply([Text("Looking."), TODO, WRITE], usage=Usage(10, 3)), match="^work", round=0),
        Rule(Reply([READ]), match="^work", tool="write_file"),
        Rule(Reply([Text("Child's end.")]), match="^work", tool="read_file"),
        Rule(Reply([Text("Later.")]), match="^later"),
    ]


async def test_what_a_child_does_is_shown_on_the_parents_thread(aster: Live, model: ModelServer) -> None:
    model.script(busy_child())
    frames = await aster.execute("go")
    begun = events(frames, "subagent_lifecycle")[0]
    parent = last(frames)["turn_id"]
    seen = [data for kind in SHOWS for data in shown(frames, kind)]
    assert {(data["turn_id"], data["parent_turn_id"], data["depth"]) for data in seen} == {
        (begun["child_turn_id"], parent, 1)
    }
    assert [data["tool"] for data in shown(frames, "tool_call")] == ["todo_write", "write_file", "read_file"]
    assert [data["tool_call_id"] for data in shown(frames, "tool_result")] == ["todo", "w", "r"]
    assert [data["tool"] for data in shown(frames, "tool_error")] == ["read_file"]
    assert [item["content"] for item in shown(frames, "todo_update")[0]["todos"]] == ["look"]
    assert [data["block"]["text"] for data in shown(frames, "content_block_stop")] == ["Looking.", "Child's end."]
    assert len(shown(frames, "usage")) == 3
    assert shown(frames, "text_delta") == shown(frames, "content_block_start") == []
    given = shown(frames, "tool_call")[1]["input"]["content"]
    assert given == f"{LONG[:SHOWN_CHARS]} […]"


async def test_it_is_part_of_nothing(aster: Live, model: ModelServer) -> None:
    """Neither of the parent's prompt, nor of its answer, its count, its bill, a fork, or what a client folds."""
    model.script(busy_child())
    frames = await aster.execute("go")
    assert text_of(frames) == "The parent is done."
    task = (await aster.http.get("/tasks/t1")).json()
    assert [(turn["model_calls"], turn["turn_id"]) for turn in task["turns"]] == [(2, last(frames)["turn_id"])]
    head = frames[-1].id
    await aster.execute("later")
    assert "Looking." not in str(model.calls[-1].body)
    forked = (await aster.http.post("/tasks/t1/fork", json={"seq": head, "task_id": "t2"})).json()
    assert forked["task_id"] == "t2"
    copied = await aster.replay(task_id="t2", after_seq=0)
    assert [kind for kind in SHOWS if shown(copied, kind)] == []
    async with AsterClient(aster.url) as client:
        transcript = Transcript().extend([event async for event in client.thread("t1")])
    assert transcript.text() == "The parent is done.Later."
    assert [card.tool for card in transcript.cards] == ["spawn_agent"]
    beside = [item for item in transcript.items if isinstance(item, Note | ToolCard) and item.depth]
    assert [(item.agent, item.depth) for item in beside] == [("general", 1)] * 5


async def test_it_can_be_left_out(aster: Live, model: ModelServer) -> None:
    model.script(busy_child())
    live_ = await aster.execute("go", subagents=False)
    again = await aster.replay(task_id="t1", after_seq=0, subagents="false")
    page = (await aster.http.get("/tasks/t1/events", params={"subagents": "false", "limit": 1000})).json()
    whole = (await aster.http.get("/tasks/t1/events", params={"limit": 1000})).json()
    assert [frame.data for frame in live_] == [frame.data for frame in again] == page["events"]
    assert not any(data.get("depth") for data in page["events"])
    assert page["next_after_seq"] == whole["next_after_seq"] == whole["head_seq"]
    assert len(whole["events"]) > len(page["events"])
    assert len(events(live_, "subagent_lifecycle")) == 2
    async with AsterClient(aster.url) as client:
        depths = [{event.depth async for event in client.replay("t1", subagents=given)} for given in (True, False)]
        pages = [await client.events("t1", limit=1000, subagents=given) for given in (True, False)]
        turn = [event async for event in client.execute("later", "t1", subagents=False)]
    assert depths == [{0, 1}, {0}]
    assert len(pages[0].events) > len(pages[1].events) == len(page["events"])
    assert turn


async def test_what_a_childs_child_does_is_shown_too_and_questions_are_never_left_out(
    aster: Live, model: ModelServer
) -> None:
    danger = ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")
    model.script(
        [
            Rule(Reply([Text("deep")]), tool="bash"),
            Rule(Reply([Text("end")]), tool="spawn_agent"),
            Rule(Reply([spawn("middle")]), match="^go", round=0),
            Rule(Reply([spawn("deepest")]), match="^middle", round=0),
            Rule(Reply([danger]), match="^deepest", round=0),
        ]
    )
    async with aster.executing("go", subagents=False) as stream:
        asked = (await stream.until("hitl_request")).data
        assert asked["depth"] == 2
        await aster.http.post("/hitl/respond", json={"request_id": asked["request_id"], "answer": "yes"})
        await stream.rest()
    frames = await aster.replay(task_id="t1", after_seq=0)
    middle = events(frames, "subagent_lifecycle")[0]["child_turn_id"]
    deeper = shown(frames, "subagent_lifecycle")
    assert [(data["phase"], data["turn_id"], data["depth"]) for data in deeper] == [
        ("started", middle, 1),
        ("completed", middle, 1),
    ]
    [call] = [data for data in shown(frames, "tool_call") if data["tool"] == "bash"]
    assert (call["depth"], call["turn_id"], call["parent_turn_id"]) == (2, deeper[0]["child_turn_id"], middle)


async def test_retention_folds_it_away(model: ModelServer, tmp_path: Path) -> None:
    model.script(busy_child())
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as engine:
        before = await engine.execute("go")
        kept = await engine.replay(task_id="t1", after_seq=0, subagents="false")
        await engine.engine.brain.retain(deltas_before=now_ms() + 1000, observations_before=0)
        after = await engine.replay(task_id="t1", after_seq=0)
    assert any(shown(before, kind) for kind in SHOWS)
    assert [kind for kind in SHOWS if shown(after, kind)] == []
    gone = {"text_delta", "content_block_start", "tool_progress"}
    assert [frame.id for frame in after] == [frame.id for frame in kept if frame.event not in gone]
    with sqlite3.connect(brain) as db:
        assert db.execute("SELECT count(*) FROM thread_events WHERE grade = 'shown'").fetchone() == (0,)
    db.close()


def test_progress_is_shown_once_a_second_and_ends_with_the_call() -> None:
    pace = Pace()

    def said(text: str, at: float) -> str | None:
        found = pace.let(ToolProgress(tool="bash", tool_call_id="b", text=text), at)
        return None if found is None else found.text

    assert said("a", 10.0) == "a"
    assert said("b", 10.1) is None
    assert said(LONG, 10.2) is None
    assert said("c", 10.0 + PROGRESS_SECONDS) == f"{'x' * (SHOWN_CHARS - 1)}c"


async def test_progress_of_a_childs_command_is_shown(aster: Live, model: ModelServer) -> None:
    echo = ToolCall("bash", {"command": "echo one; echo two"}, id="b")
    model.script(
        [
            Rule(Reply([Text("said")]), tool="bash"),
            Rule(Reply([Text("end")]), tool="spawn_agent"),
            Rule(Reply([spawn()]), match="^go", round=0),
            Rule(Reply([echo]), match="^work", round=0),
        ]
    )
    frames = await aster.execute("go")
    assert [data["tool_call_id"] for data in shown(frames, "tool_progress")] == ["b"]
