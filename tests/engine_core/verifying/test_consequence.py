"""A repair through HTTP: what it leaves when it comes to nothing, and what it may do again."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aster.testing import Failure, ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last, transitions
from tests.engine_core.verifying.test_verifier import COUNT, HONEST, LOOK, ZERO, shown, trajectory
from tests.live import live

EMPTY = Reply([Text("")])
LOOP = Reply(
    [Text("Let me look at the file once more, since it may have come into being meanwhile, who knows. " * 200)]
)
BROKEN = Reply([ToolCall("bash", raw_arguments='{"command": "ec')], stop_reason="max_tokens")


@pytest.mark.parametrize(
    ("repairs", "settings"),
    [
        ([LOOK], {"max_turns": 3}),
        ([EMPTY, EMPTY], {}),
        ([LOOP, LOOP], {}),
        ([BROKEN] * 4, {"max_tokens": 4096}),
        (
            [Reply([Text("No such file.")], stop_reason="max_tokens"), Failure(400), Failure(400)],
            {"max_tokens": 256},
        ),
    ],
    ids=["steps", "empty", "repetition", "broken calls", "taken back"],
)
async def test_a_repair_that_comes_to_nothing_leaves_the_answer_with_a_note(
    model: ModelServer, repairs: list[Reply | Failure], settings: dict[str, Any]
) -> None:
    model.enqueue(LOOK, ZERO, *repairs)
    async with live(model, **settings) as engine:
        frames = await engine.execute("How many lines has notes.txt?")
        replayed = await engine.replay(task_id="t1")
        record = await trajectory(engine, frames)
    assert (last(frames)["phase"], last(frames)["stop_reason"]) == ("completed", "end_turn")
    assert [found["action"] for found in events(frames, "verification")] == ["repair", "note"]
    assert shown(frames).answer().startswith("0\n\n---\n**Verifier note:** Every tool call")
    assert shown(replayed).answer() == shown(frames).answer()
    assert record["messages"][-1]["content"][-1]["text"] == shown(frames).answer()
    assert len(model.calls) == 2 + len(repairs)


async def test_a_hook_that_stops_a_repair_leaves_the_answer_with_a_note(model: ModelServer, tmp_path: Path) -> None:
    model.enqueue(LOOK, ZERO, COUNT)
    stop = {"matcher": "bash", "command": """echo '{"continue": false}'"""}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": {"PostToolUse": [stop]}}))
    async with live(model, hooks_path=tmp_path / "hooks.json") as engine:
        frames = await engine.execute("How many lines has notes.txt?")
    assert len(model.calls) == 3
    assert shown(frames).answer().startswith("0\n\n---\n**Verifier note:** Every tool call")


@pytest.mark.parametrize(
    "repairs", [[Failure(400)], [EMPTY, EMPTY], [BROKEN] * 4], ids=["failed", "empty", "broken"]
)
async def test_a_kill_before_the_end_of_a_restored_answer_ends_with_it(
    model: ModelServer, tmp_path: Path, repairs: list[Reply | Failure]
) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(LOOK, ZERO, *repairs)
    async with live(model, sqlite_db_path=brain, task_titles=False) as engine:
        frames = await engine.execute("How many lines has notes.txt?")
    asked = len(model.calls)
    without_its_end(brain, last(frames)["turn_id"])
    async with live(model, sqlite_db_path=brain, task_titles=False) as engine:
        again = await engine.replay(task_id="t1", after_seq=0)
    assert (last(again)["phase"], last(again)["stop_reason"]) == ("completed", "end_turn")
    assert shown(again).answer() == shown(frames).answer()
    assert len(model.calls) == asked


def without_its_end(brain: Path, turn_id: str) -> None:
    """The thread as a kill just before the last commit of a turn leaves it."""
    with closing(sqlite3.connect(brain)) as db, db:
        db.execute(
            "DELETE FROM thread_events WHERE seq = (SELECT last_seq FROM turns WHERE turn_id = ?)", (turn_id,)
        )
        db.execute("DELETE FROM conversations")
        db.execute("DELETE FROM trajectories")
        db.execute("UPDATE turns SET status = 'running', ended_at = NULL, last_seq = NULL, stop_reason = NULL")
        db.execute("UPDATE threads SET status = 'running', active_turn_id = ?, tip_turn_id = NULL", (turn_id,))


async def test_a_draft_that_was_replaced_does_not_come_back(model: ModelServer, tmp_path: Path) -> None:
    model.enqueue(LOOK, ZERO, HONEST, Failure(400))
    refuse = {"command": """echo '{"decision": "block", "reason": "Say more."}'"""}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [refuse]}}))
    async with live(model, hooks_path=tmp_path / "hooks.json") as engine:
        frames = await engine.execute("How many lines has notes.txt?")
    assert transitions(frames)[-1] == "stop_hook_continuation"
    assert last(frames)["phase"] == "errored"
    assert [found["action"] for found in events(frames, "verification")] == ["repair"]
    assert shown(frames).answer() == "That file does not exist."


async def test_a_call_runs_again_in_a_repair_once_the_world_has_changed(model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("red\n")
    check = Reply([ToolCall("bash", {"command": "cat state >> log; cat state"})])
    fix = Reply([ToolCall("bash", {"command": "echo green > state"})])
    model.enqueue(check, Reply([Text("The command printed 77.")]), check, fix, check, Reply([Text("It is green.")]))
    async with live(model, allowed_roots=str(tmp_path)) as engine:
        frames = await engine.execute("Make it green.")
    outputs = [result["output"] for result in events(frames, "tool_result")]
    assert "worked before" in outputs[1]
    assert "green" in outputs[3]
    assert (tmp_path / "log").read_text() == "red\ngreen\n"
