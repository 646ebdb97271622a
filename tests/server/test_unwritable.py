"""Half of a character (a lone surrogate) can stand in JSON and be written nowhere: it is replaced where objects come in
as they are, and nothing fails by it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aster.testing import ModelServer, RecordedCall, Reply, Rule, Text
from tests.live import Live, live

HALF = "\\ud800"


@pytest_asyncio.fixture(loop_scope="module")
async def aster(tmp_path: Path) -> AsyncIterator[Live]:
    catalog = tmp_path / "catalog" / "workflows"
    catalog.mkdir(parents=True)
    steps = [{"do": "agent", "prompt": "Say {{args.word}}", "as": "said"}]
    flow = {
        "name": "flow",
        "description": "A flow.",
        "args": {"type": "object"},
        "steps": steps,
        "result": "{{said}}",
    }
    (catalog / "flow.json").write_text(json.dumps(flow))
    async with (
        ModelServer([Rule(Reply([Text("Done.")]))]) as model,
        live(model, sqlite_db_path=tmp_path / "b.sqlite", catalog_dir=str(catalog.parent)) as engine,
    ):
        yield engine


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/rpc", '{"method": "tool.glob", "params": {"pattern": "%s*", "%s": 1}, "task_id": "t"}', 422),
        ("/rpc", '{"method": "tool.glob", "params": {"pattern": "%s*"}, "task_id": "t"}', 200),
        ("/permissions/test", '{"tool": "bash", "input": {"command": "echo %s"}}', 200),
        ("/workflows/flow/runs", '{"args": {"word": "%s"}}', 202),
        (
            "/execute",
            '{"message": "hi", "task_id": "t", "tools": [{"name": "own", "input_schema": {"title": "%s"}}]}',
            200,
        ),
    ],
)
async def test_half_a_character_breaks_nothing(aster: Live, path: str, body: str, status: int) -> None:
    answer = await aster.http.post(
        path, content=body.replace("%s", HALF), headers={"content-type": "application/json"}
    )
    assert answer.status_code == status, answer.text
    assert "\\ud800" not in answer.text


async def test_an_object_may_be_deep(aster: Live) -> None:
    deep = "[" * 400 + f'"{HALF}"' + "]" * 400
    body = f'{{"method": "tool.glob", "params": {{"pattern": {deep}}}, "task_id": "t"}}'
    answer = await aster.http.post("/rpc", content=body, headers={"content-type": "application/json"})
    assert answer.status_code < 500, answer.text


async def test_a_judge_who_says_half_a_character_ends_nobodys_turn(tmp_path: Path) -> None:
    def judged(call: RecordedCall) -> Reply:
        judge = "Is the goal met?" in json.dumps(call.body)
        return Reply(
            [Text('{"ok": false, "impossible": true, "reason": "no \\ud800 wings"}' if judge else "Done.")]
        )

    async with ModelServer([judged]) as model, live(model, sqlite_db_path=tmp_path / "g.sqlite") as engine:
        await engine.execute("Hello.", "t1")
        assert (await engine.http.put("/tasks/t1/goal", json={"goal": "Fly."})).status_code == 200
        frames = await engine.execute("Go on.", "t1")
        assert frames[-1].data["phase"] == "completed"
        goal = (await engine.http.get("/tasks/t1/goal")).json()
        assert (goal["status"], goal["reason"]) == ("failed", "no \ufffd wings")


async def test_a_worker_who_says_half_a_character_sets_nothing_aside(tmp_path: Path) -> None:
    reply = (
        '{"facts": [{"content": "Zebras \\ud800 graze.", "message": 1, "quote": "I live in Lisbon by the sea"}]}'
    )
    settings: dict[str, Any] = {
        "sqlite_db_path": tmp_path / "w.sqlite",
        "light_model": "demo",
        "task_titles": False,
    }
    async with ModelServer([Rule(Reply([Text(reply)]))]) as model, live(model, **settings) as engine:
        await engine.execute("I live in Lisbon by the sea, which tram goes up?", "t1")
        done = (await engine.http.post("/learning/run", json={"works": ["batch"]})).json()
        assert [run["outcome"] for run in done["runs"]] == ["empty"], done
        assert (await engine.http.get("/learning")).json()["queue"]["done"] == 1
