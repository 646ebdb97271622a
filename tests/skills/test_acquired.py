"""Skills that the agent writes: kept only after their test, counted with every use, never in the place of others."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from aster.skills.catalogue import OWN
from aster.skills.shelf import MOST_ACQUIRED
from aster.skills.skill import DEGRADED_AFTER, Acquired
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live
from tests.skills.calling import call, live, system

CODE = "import json, sys\ngiven = json.loads(sys.argv[1])\nprint(len(given['text'].split()))"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
USUAL: dict[str, Any] = {
    "name": "word_count",
    "description": "Counts words.",
    "parameters_schema": SCHEMA,
    "code": CODE,
    "test_payload": {"text": "one two"},
}


async def create(engine: Live, model: ModelServer, **changes: Any) -> dict[str, Any]:
    return await call(engine, model, "create_skill", **{**USUAL, **changes})


async def names(engine: Live) -> list[str]:
    return [one["name"] for one in (await engine.http.get("/skills")).json()["skills"]]


async def test_it_is_tested_kept_told_of_and_called() -> None:
    async with ModelServer() as model, live(model, sandbox="auto") as engine:
        made = await create(engine, model)
        assert "Kept as word_count, version 1" in made["output"]
        used = await call(engine, model, "use_skill", name="word_count", input={"text": "a b c"})
        assert used["output"] == "3"
        assert not used.get("trusted")
        assert f'{OWN}\n- word_count: "Counts words."' in system(model)
        again = await create(engine, model, code=CODE + "\n")
        assert "version 2" in again["output"]
        shown = (await engine.http.get("/skills/word_count")).json()
        assert shown["acquired"]["version"] == 2
        assert (shown["source"], shown["origin"]) == ("custom", "acquired")
        loaded = await call(engine, model, "load_skill", name="word_count")
        assert '"required":["text"]' in loaded["output"]


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"code": "import sys; sys.exit(3)"}, "test_failed", "status 3"),
        ({"code": "raise ValueError('oops')"}, "test_failed", "oops"),
        ({"code": "def main(): print(1)"}, "test_silent", "__main__"),
        ({"name": "bash"}, "invalid_input", "name of a tool"),
        ({"name": "summarizer"}, "invalid_input", "you did not write"),
        ({"test_payload": {}}, "invalid_input", "text"),
        ({"parameters_schema": {"type": "array"}}, "invalid_input", "object"),
        (
            {"parameters_schema": {"type": "object", "properties": {"x": {"pattern": "(a+)+$"}}}},
            "invalid_input",
            "pattern",
        ),
        ({"parameters_schema": {"type": "object", "$ref": "http://127.0.0.1/"}}, "invalid_input", "$ref"),
        ({"parameters_schema": {**SCHEMA, "title": "x" * 24_000}}, "invalid_input", "24,000 bytes"),
    ],
)
async def test_what_does_not_pass_is_not_kept(changes: dict[str, Any], error: str, said: str) -> None:
    async with ModelServer() as model, live(model) as engine:
        before = await names(engine)
        refused = await create(engine, model, **changes)
        assert refused["error"] == error
        assert said in refused["output"]
        assert await names(engine) == before


@pytest.mark.parametrize("name", ["../x", "a/b", "a.b", "a b", "a\x00", "a\n", "1a", "a" * 65, "", "a-b", "é"])
async def test_a_name_that_is_none_is_refused_not_healed(name: str) -> None:
    async with ModelServer() as model, live(model) as engine:
        before = await names(engine)
        refused = await create(engine, model, name=name)
        assert refused["error"] == "invalid_input"
        assert await names(engine) == before


async def test_failures_in_a_row_degrade_it_then_retire_it_and_a_success_forgives() -> None:
    code = "import json, sys\nif json.loads(sys.argv[1])['bad']: sys.exit('broken')\nprint('fine')"
    schema = {"type": "object", "properties": {"bad": {"type": "boolean"}}, "required": ["bad"]}
    async with ModelServer() as model, live(model) as engine:
        await create(engine, model, name="moody", code=code, parameters_schema=schema, test_payload={"bad": False})

        async def use(bad: bool) -> dict[str, Any]:
            return await call(engine, model, "use_skill", name="moody", input={"bad": bad})

        async def state() -> tuple[str, int]:
            acquired = (await engine.http.get("/skills/moody")).json()["acquired"]
            return acquired["status"], acquired["failures"]

        for _ in range(2):
            assert "broken" in (await use(True))["output"]
        assert await state() == ("active", 2)
        assert (await use(False))["output"] == "fine"
        assert await state() == ("active", 0)
        for _ in range(3):
            await use(True)
        assert await state() == ("degraded", 3)
        await engine.execute("hi", "other")
        assert "- moody (failed lately" in system(model)
        for _ in range(3):
            await use(True)
        assert await state() == ("retired", 6)
        assert (await use(False))["error"] == "unknown_skill"
        await engine.execute("hi", "other")
        assert "moody" not in system(model)
        await create(engine, model, name="moody", code=code, parameters_schema=schema, test_payload={"bad": False})
        assert await state() == ("active", 0)


async def test_dangerous_code_is_asked_about_as_bash_would_ask() -> None:
    code = "import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\nprint(1)"
    async with ModelServer() as model, live(model, unattended_policy="deny") as engine:
        model.enqueue(Reply([ToolCall("create_skill", {**USUAL, "code": code})]), Reply([Text("done")]))
        frames = await engine.execute("go", unattended=True)
        [result] = [frame.data for frame in frames if frame.event == "tool_result"]
        assert result["error"] == "permission_denied"
        assert "word_count" not in await names(engine)


async def asked(engine: Live, model: ModelServer, tool: str, given: dict[str, Any], **body: Any) -> dict[str, Any]:
    """What a person is asked before a call, which is then let through, and what it came to."""
    model.enqueue(Reply([ToolCall(tool, given)]), Reply([Text("done")]))
    async with engine.executing("go", **body) as stream:
        question = (await stream.until("hitl_request")).data
        await stream.until("thread_lifecycle", phase="suspended")
        answer = {"request_id": question["request_id"], "answer": "yes"}
        assert (await engine.http.post("/hitl/respond", json=answer)).status_code == 200
        frames = await stream.rest()
    [result] = [frame.data for frame in frames if frame.event == "tool_result"]
    assert sum(frame.event == "hitl_request" for frame in frames) == 1
    return {**question, "result": result}


@pytest.mark.parametrize("mode", ["default", "bypass"])
@pytest.mark.parametrize("every_time", [False, True])
async def test_what_a_rule_asks_about_in_bash_is_asked_about_here(
    tmp_path: Path, mode: str, every_time: bool
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": [{"behavior": "ask", "tool": "bash", "every_time": every_time}]}))
    settings = {"permission_rules_path": rules, "permission_bypass_allowed": True, "permission_mode": mode}
    async with ModelServer() as model, live(model, **settings) as engine:
        for tool in ("create_skill", "use_skill"):
            grant = {"tool": tool, "behavior": "allow", "scope": "everywhere"}
            assert (await engine.http.post("/permissions", json=grant)).status_code == 200
        made = await asked(engine, model, "create_skill", USUAL)
        assert (made.get("offer") is None, "Kept" in made["result"]["output"]) == (every_time, True)
        used = await asked(engine, model, "use_skill", {"name": "word_count", "input": {"text": "a b"}})
        assert used["result"]["output"] == "2"


async def test_what_no_longer_works_makes_room_and_what_works_does_not() -> None:
    async with ModelServer() as model, live(model) as engine:
        shelf = engine.engine.skills
        code = Acquired(code="print(1)", parameters={"type": "object"}, test_payload={})
        kept = [await shelf.learn("default", f"old_{n:02}", "x", code) for n in range(MOST_ACQUIRED)]
        assert "50 acquired skills that work; delete some" in (await create(engine, model))["output"]
        for skill in kept[3:5]:
            for _ in range(DEGRADED_AFTER):
                await shelf.ran("default", skill, ok=False)
        await shelf.ran("default", kept[3], ok=False)
        assert (await create(engine, model)).get("error") is None
        left = await names(engine)
        assert {"word_count", "old_02", "old_03"} <= set(left)
        assert "old_04" not in left


async def test_an_approval_is_for_the_code_as_it_was() -> None:
    async with ModelServer() as model, live(model) as engine:
        await create(engine, model)
        given = {"name": "word_count", "input": {"text": "a b"}}
        model.enqueue(Reply([ToolCall("use_skill", given)]))
        async with engine.executing("go", "t2", permission_mode="auto") as stream:
            first = (await stream.until("hitl_request")).data
            await stream.until("thread_lifecycle", phase="suspended")
            await create(engine, model, code=CODE + "\nprint('newer')")
            yes = {"request_id": first["request_id"], "answer": "always"}
            assert (await engine.http.post("/hitl/respond", json=yes)).status_code == 200
            second = (await stream.until("hitl_request")).data
            assert second["pin"] != first["pin"]
            model.enqueue(Reply([Text("done")]))
            yes = {"request_id": second["request_id"], "answer": "always"}
            assert (await engine.http.post("/hitl/respond", json=yes)).status_code == 200
            await stream.rest()
        model.enqueue(Reply([ToolCall("use_skill", given)]), Reply([Text("done")]))
        frames = await engine.execute("go", "t2", permission_mode="auto")
        assert [frame.data["output"] for frame in frames if frame.event == "tool_result"] == ["2\nnewer"]


async def test_after_a_restart_code_is_read_before_it_is_judged(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"sqlite_db_path": tmp_path / "brain.sqlite"}
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": [{"behavior": "deny", "tool": "bash"}]}))
    body = {"method": "tool.use_skill", "params": {"name": "word_count", "input": {"text": "a b"}}}
    async with ModelServer() as model:
        async with live(model, **settings) as engine:
            await create(engine, model)
        async with live(model, **settings) as engine:
            answers = await asyncio.gather(*(engine.http.post("/rpc", json=body) for _ in range(3)))
            assert [answer.json()["result"]["output"] for answer in answers] == ["2"] * 3
        async with live(model, **settings, permission_rules_path=rules) as engine:
            answers = await asyncio.gather(*(engine.http.post("/rpc", json=body) for _ in range(3)))
            assert [answer.json()["error"] for answer in answers] == ["PERMISSION_DENIED"] * 3


async def test_in_plan_mode_nothing_is_created_and_it_can_be_switched_off() -> None:
    async with ModelServer() as model, live(model, permission_mode="plan") as engine:
        assert (await create(engine, model))["error"] == "permission_denied"
        assert "summarizer" in (await call(engine, model, "load_skill", name="summarizer"))["output"]
    async with ModelServer() as model, live(model, acquired_skills=False) as engine:
        assert (await create(engine, model))["error"] == "unknown_tool"


async def test_an_agent_without_bash_runs_no_code_this_way_either(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "reader"
    folder.mkdir(parents=True)
    agent = {"name": "reader", "description": "Reads.", "disallowed_tools": ["bash"]}
    (folder / "agent.json").write_text(json.dumps(agent))
    (folder / "system-prompt.md").write_text("Read.")
    async with ModelServer() as model, live(model, catalog_dir=tmp_path) as engine:
        model.enqueue(Reply([ToolCall("create_skill", USUAL)]), Reply([Text("done")]))
        frames = await engine.execute("go", agent="reader")
        [result] = [frame.data for frame in frames if frame.event == "tool_result"]
        assert result["error"] == "unknown_tool"
        assert "word_count" not in await names(engine)


@pytest.mark.parametrize(
    ("code", "error", "asks"),
    [
        ("while True: pass", "test_failed", False),
        ("import time\ntime.sleep(600)\nprint(1)", "test_failed", False),
        ("import os\nwhile True: os.fork()", "test_failed", True),
        ("import subprocess\nwhile True: subprocess.Popen(['sleep', '600'])", "test_failed", True),
        ("print(' ')", "test_silent", False),
    ],
    ids=["busy", "hanging", "fork bomb", "processes", "blank"],
)
async def test_code_that_does_not_end_or_says_nothing_is_ended_and_not_kept(
    code: str, error: str, asks: bool
) -> None:
    """Also when a person has let it run."""
    async with ModelServer() as model, live(model, sandbox="auto", bash_timeout_seconds=2.0) as engine:
        before = await names(engine)
        given = {**USUAL, "code": code}
        if asks:
            refused = (await asked(engine, model, "create_skill", given))["result"]
        else:
            refused = await create(engine, model, code=code)
        assert refused["error"] == error
        assert await names(engine) == before
        assert list((engine.engine.settings.data_dir / "skills").rglob("skill.py")) == []
        assert "Kept as word_count, version 1" in (await create(engine, model))["output"]
