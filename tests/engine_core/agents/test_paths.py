"""A tool denied to an agent is denied by every path: to whoever works for it, by whatever name, and later too."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.skills.composed import Composed, Step
from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.asset_directory.server import made, serving
from tests.engine_core.frames import events, shown
from tests.live import Live, Seen, live, text_of

BASH = ToolCall("bash", {"command": "echo reached > reached.txt"}, id="b")
QUIET = {"description": "No commands.", "system_prompt": "You run nothing.", "disallowed_tools": ["bash"]}


async def quiet(engine: Live, **changes: Any) -> None:
    assert (await engine.http.put("/agents/quiet", json={**QUIET, **changes})).status_code == 200


def spawn(prompt: str, **more: Any) -> ToolCall:
    return ToolCall("spawn_agent", {"prompt": prompt, **more}, id="s1")


def refused(frames: list[Seen], tool: str = "bash") -> list[str | None]:
    """What calls of a tool came to, by whomever they were made."""
    results = [*events(frames, "tool_result"), *shown(frames, "tool_result")]
    return [result.get("error") for result in results if result["tool"] == tool]


@pytest.mark.parametrize("background", [False, True])
async def test_not_by_an_agent_that_has_it(model: ModelServer, tmp_path: Path, background: bool) -> None:
    model.script(
        [
            Rule(Reply([Hold("child"), Text("no")]), match="^work", tool="bash"),
            Rule(Reply([Text("end")]), match="^go", tool="spawn_agent"),
            Rule(Reply([spawn("work", agent="coder", background=background)]), match="^go", round=0),
            Rule(Reply([BASH]), match="^work", round=0),
        ]
    )
    async with live(model, allowed_roots=str(tmp_path)) as engine:
        await quiet(engine)
        async with engine.executing("go", agent="quiet") as stream:
            child = (await stream.until("subagent_lifecycle")).data["child_task_id"]
            await model.wait_held("child")
            model.release("child")
            await stream.rest()
        assert refused(await engine.replay(task_id=child, after_seq=0)) == ["unknown_tool"]
    assert not (tmp_path / "reached.txt").exists()


async def test_not_by_calls_that_a_person_approved_for_others(model: ModelServer, tmp_path: Path) -> None:
    steps = (Step(tool="bash", input=dict(BASH.input)),)
    model.script(
        [
            Rule(Reply([Text("end")]), tool="use_skill"),
            Rule(Reply([ToolCall("use_skill", {"name": "say", "input": {}}, id="u")]), match="^go", round=0),
        ]
    )
    async with live(model, allowed_roots=str(tmp_path)) as engine:
        await quiet(engine, disallowed_tools=[], tools=["use_skill", "read_file"])
        await engine.engine.skills.propose("default", "say", "Says.", Composed(parameters=(), steps=steps))
        await engine.http.post("/skills/say/approve")
        frames = await engine.execute("go", agent="quiet")
        assert refused(frames, "use_skill") == ["unknown_tool"]
        assert not (tmp_path / "reached.txt").exists()
        assert refused(await engine.execute("go", "t2"), "use_skill") == [None]
    assert (tmp_path / "reached.txt").exists()


async def test_not_after_a_restart(model: ModelServer, tmp_path: Path) -> None:
    model.script(
        [
            Rule(Reply([Text("no")]), tool="bash"),
            Rule(Reply([BASH]), tool="ask_user"),
            Rule(Reply([Text("end")]), match="^go", tool="spawn_agent"),
            Rule(Reply([spawn("work", agent="coder")]), match="^go", round=0),
            Rule(Reply([ToolCall("ask_user", {"question": "Now?"}, id="q")]), match="^work", round=0),
        ]
    )
    root = tmp_path / "root"
    root.mkdir()
    settings: dict[str, Any] = {"sqlite_db_path": tmp_path / "brain.sqlite", "allowed_roots": str(root)}
    async with live(model, **settings) as first:
        await quiet(first)
        async with first.executing("go", agent="quiet") as stream:
            child = (await stream.until("subagent_lifecycle")).data["child_task_id"]
            await stream.until("hitl_request")
        async with first.replaying(task_id=child) as stream:
            await stream.until("thread_lifecycle", phase="suspended")
        assert (await first.http.delete("/agents/quiet")).status_code == 204
    async with live(model, **settings) as second:
        await second.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
        frames = await second.replay(task_id="t1", after_seq=0)
    assert text_of(frames) == "end"
    assert refused(frames) == ["unknown_tool"]
    assert list(root.iterdir()) == []


async def test_not_by_a_turn_that_begins_by_itself(model: ModelServer, tmp_path: Path) -> None:
    model.script(
        [
            Rule(Reply([Hold("woken"), Text("no")]), tool="bash"),
            Rule(Reply([BASH]), match="Nobody has said anything since", round=0),
            Rule(Reply([Text("Begun.")]), match="^go", tool="spawn_agent"),
            Rule(Reply([spawn("work", background=True, wake=True)]), match="^go", round=0),
            Rule(Reply([Text("done")]), match="^work"),
        ]
    )
    async with live(model, allowed_roots=str(tmp_path)) as engine:
        await quiet(engine)
        await engine.execute("go", agent="quiet")
        await model.wait_held("woken")
        model.release("woken")
        frames = await engine.replay(task_id="t1", after_seq=0)
    assert refused(frames) == ["unknown_tool"]
    assert not (tmp_path / "reached.txt").exists()


async def test_not_a_connected_tool_by_another_name(model: ModelServer, tmp_path: Path) -> None:
    """By its own, through the tool that calls tools, by a tool of the catalog, or by an agent that has them all."""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "tools").mkdir()
    declared = {
        "name": "say_again",
        "description": "Says it.",
        "input_schema": {"type": "object", "properties": {}},
        "implementation": {"kind": "mcp", "ref": {"server": "fix", "action": "echo"}, "arguments": {"text": "x"}},
    }
    (tmp_path / "tools" / "say_again.json").write_text(json.dumps(declared))
    ways = [
        ToolCall("fix.echo", {"text": "x"}, id="w1"),
        ToolCall("call_tool", {"name": "fix.echo", "input": {"text": "x"}}, id="w2"),
        ToolCall("say_again", {}, id="w3"),
    ]
    async with serving(made()) as url:
        (tmp_path / "mcp" / "fix.json").write_text(json.dumps({"url": url, "policy": {"*": "allow"}}))
        for index, tokens in enumerate((0, 10_000)):
            async with live(model, catalog_dir=tmp_path, mcp_tools_tokens=tokens) as engine:
                assert (await engine.http.post("/assets/connect", json={"server_name": "fix"})).status_code == 200
                await quiet(engine, disallowed_tools=["fix.*"])
                model.script(
                    [
                        Rule(Reply([Text("no")]), match="^work", round=3),
                        Rule(Reply([Text("end")]), match="^go", tool="spawn_agent"),
                        Rule(Reply([spawn("work", agent="coder")]), match="^go", round=3),
                        Rule(Reply(ways), match="^(go|work)", round=0),
                    ]
                )
                frames = await engine.execute("go", f"t{index}", agent="quiet")
                assert text_of(frames) == "end"
                found = [*events(frames, "tool_result"), *shown(frames, "tool_result")]
                tried = [result for result in found if result["tool"] != "spawn_agent"]
                assert len(tried) == 6
                assert all(result["error"] for result in tried), tried
                assert all(result["output"] != "x" for result in tried)
                others = events(await engine.execute("go", f"other{index}"), "tool_result")
                assert any(result["output"] == "x" for result in others)


async def test_not_by_asking_the_engine_itself(model: ModelServer, tmp_path: Path) -> None:
    """A command in the sandbox does not reach the engine, so it neither calls its methods nor answers its questions."""
    async with live(model, sandbox="auto", allowed_roots=str(tmp_path), egress_allow="*") as engine:
        ask = (
            f"import urllib.request as u; print('begun'); print(u.urlopen('{engine.url}/health', timeout=5).status)"
        )
        look = ToolCall("bash", {"command": f'python3 -c "{ask}"'}, id="c")
        model.script([Rule(Reply([Text("no")]), tool="bash"), Rule(Reply([look]), match="^go", round=0)])
        frames = await engine.execute("go")
        [result] = events(frames, "tool_result")
        assert result["error"] == "exit_status", result
        assert "begun" in result["output"]
        assert "200" not in result["output"].split("\n")
