"""Hooks through HTTP: real commands, a real web server, real functions; what each answer does to a turn."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.errors import EngineError
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    HookRan,
    Phase,
    ThreadLifecycle,
    Usage,
    UserMessage,
)
from aster.engine_core.hooks.settings import load
from aster.infra.settings import Settings
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last, transitions
from tests.engine_core.hooks import sample
from tests.live import Live, live

SAMPLE = "tests.engine_core.hooks.sample"
WRITE = ToolCall("write_file", {"path": "a.txt", "content": "alpha"}, id="one")
LOOK = ToolCall("glob", {"pattern": "**/*"}, id="look")


@asynccontextmanager
async def hooked(
    model: ModelServer, directory: Path, hooks: dict[str, list[dict[str, Any]]], **settings: Any
) -> AsyncIterator[Live]:
    path = directory / "hooks.json"
    path.write_text(json.dumps({"hooks": hooks}))
    sample.SEEN.clear()
    async with live(model, sandbox="auto", hooks_path=path, **settings) as engine:
        yield engine


def ran(frames: Any) -> list[tuple[str, str]]:
    return [(data["hook_event"], data["outcome"]) for data in events(frames, "hook_ran")]


async def test_exit_two_blocks_with_the_reason(model: ModelServer, tmp_path: Path) -> None:
    hook = {"matcher": "write_file|edit_*", "command": "echo 'not on a Sunday' >&2; exit 2"}
    async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
        model.enqueue(Reply([LOOK, WRITE]), Reply([Text("no")]))
        frames = await engine.execute("go")
    results = {data["tool_call_id"]: data for data in events(frames, "tool_result")}
    assert results["one"]["error"] == "hook_blocked"
    assert "not on a Sunday" in results["one"]["output"]
    assert "error" not in results["look"]
    assert [data["tool"] for data in events(frames, "tool_call")] == ["glob"]
    assert ran(frames) == [("PreToolUse", "blocked")]
    assert len(events(frames, "tool_result")) == 2


async def test_a_command_gets_the_payload_and_none_of_the_secrets(
    model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "do-not-tell")
    command = 'cat > payload.json; env > env.txt; printf %s "$HOOK_TOOL_INPUT" > input.json'
    async with hooked(model, tmp_path, {"PreToolUse": [{"command": command}]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("done")]))
        frames = await engine.execute("go")
    payload = json.loads((tmp_path / "payload.json").read_text())
    assert payload["hook_event_name"] == "PreToolUse"
    assert payload["tool_name"] == "write_file"
    assert payload["tool_input"] == {"path": "a.txt", "content": "alpha"}
    assert payload["task_id"] == "t1"
    assert json.loads((tmp_path / "input.json").read_text()) == payload["tool_input"]
    assert "do-not-tell" not in (tmp_path / "env.txt").read_text()
    assert ran(frames) == [("PreToolUse", "success")]
    assert "error" not in events(frames, "tool_result")[0]


async def test_a_rewritten_input_is_what_runs(model: ModelServer, tmp_path: Path) -> None:
    hook = {"matcher": "write_file", "python": f"{SAMPLE}:softer"}
    async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([LOOK]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert events(frames, "tool_call")[0]["input"]["path"] == "safe/a.txt"
    assert "safe/a.txt" in events(frames, "tool_result")[1]["output"]


async def test_a_rewritten_input_is_judged_again(model: ModelServer, tmp_path: Path) -> None:
    hook = {"matcher": "write_file", "python": f"{SAMPLE}:outside"}
    async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("no")]))
        frames = await engine.execute("go")
    assert events(frames, "tool_result")[0]["error"] == "permission_denied"
    assert not events(frames, "tool_call")


@pytest.mark.parametrize(
    ("hook", "outcome"),
    [
        ({"command": "echo oops >&2; exit 3"}, "error"),
        ({"command": "sleep 60 & sleep 60", "timeout": 0.3}, "timeout"),
        ({"command": ["/nowhere/at/all"]}, "error"),
        ({"command": "echo '{\"decision\": 7}'"}, "error"),
        ({"python": f"{SAMPLE}:broken"}, "error"),
        ({"python": f"{SAMPLE}:missing"}, "error"),
        ({"url": "http://127.0.0.1:9/closed"}, "error"),
    ],
)
async def test_a_failing_hook_does_not_stop_the_turn(
    model: ModelServer, tmp_path: Path, hook: dict[str, Any], outcome: str
) -> None:
    async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert ran(frames) == [("PreToolUse", outcome)]
    assert "error" not in events(frames, "tool_result")[0]
    assert last(frames)["phase"] == "completed"


async def test_a_hook_that_has_to_pass_blocks_when_it_fails(model: ModelServer, tmp_path: Path) -> None:
    hook = {"command": "exit 3", "on_error": "block"}
    async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert events(frames, "tool_result")[0]["error"] == "hook_blocked"
    assert last(frames)["phase"] == "completed"


async def test_notes_after_success_and_after_failure_reach_the_model(model: ModelServer, tmp_path: Path) -> None:
    hooks = {
        "PostToolUse": [{"command": 'echo \'{"additionalContext": "formatted it, too"}\''}],
        "PostToolUseFailure": [{"python": f"{SAMPLE}:remember"}],
    }
    async with hooked(model, tmp_path, hooks) as engine:
        model.enqueue(Reply([WRITE, ToolCall("read_file", {"path": "none"})]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert "[Hook note]: formatted it, too" in events(frames, "tool_result")[0]["output"]
    assert "formatted it, too" in str(model.calls[-1].body["messages"])
    assert [payload["tool_error"] for payload in sample.SEEN] == ["not_found"]


async def test_a_hook_can_end_the_turn_after_a_step(model: ModelServer, tmp_path: Path) -> None:
    async with hooked(model, tmp_path, {"PostToolUse": [{"python": f"{SAMPLE}:enough"}]}) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("never")]))
        frames = await engine.execute("go")
    assert last(frames)["stop_reason"] == "hook_stopped"
    assert last(frames)["phase"] == "completed"


async def test_a_message_can_be_refused_or_get_context(model: ModelServer, tmp_path: Path) -> None:
    hooks = {
        "SessionStart": [{"command": 'echo \'{"additionalContext": "The sprint ends on Friday."}\''}],
        "UserPromptSubmit": [{"command": 'grep -q "secret plan" && { echo "not that" >&2; exit 2; }; exit 0'}],
    }
    async with hooked(model, tmp_path, hooks) as engine:
        model.enqueue(Reply([Text("hello")]), Reply([Text("again")]))
        frames = await engine.execute("hi")
        assert ran(frames) == [("SessionStart", "success"), ("UserPromptSubmit", "success")]
        assert "The sprint ends on Friday." in str(model.calls[0].body["messages"])
        assert ran(await engine.execute("hi again")) == [("UserPromptSubmit", "success")]
        frames = await engine.execute("the secret plan")
    assert last(frames)["phase"] == "errored"
    error = events(frames, "error")[0]
    assert error["error"] == "PERMISSION_DENIED"
    assert "not that" in error["message"]
    assert len(model.calls) == 2


STARTED: list[Event] = [
    ThreadLifecycle(phase=Phase.STARTED, request={"direct": True}),
    UserMessage(message_id="msg-1", content=(TextBlock(text="hi"),)),
]


async def left_by_a_crash(path: Path, *written: Event) -> None:
    brain = SqliteBrain(path)
    await brain.start()
    await brain.append(ThreadKey("default", "t1"), "turn-1", [*STARTED, *written])
    await brain.close()


def spoke(event: str, *, blocked: bool = False, tool_call_id: str | None = None) -> HookRan:
    return HookRan(
        hook="h",
        hook_event=event,
        outcome="blocked" if blocked else "success",
        blocked=blocked,
        message="not that" if blocked else None,
        tool_call_id=tool_call_id,
    )


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
@pytest.mark.parametrize("still", [True, False], ids=["hooks as before", "hooks gone"])
async def test_a_refused_message_stays_refused_after_a_kill(
    model: ModelServer, tmp_path: Path, event: str, still: bool
) -> None:
    path = tmp_path / "brain.sqlite"
    await left_by_a_crash(path, spoke(event, blocked=True))
    hooks = {"UserPromptSubmit": [{"command": "true"}]} if still else {}
    async with hooked(model, tmp_path, hooks, sqlite_db_path=path) as engine:
        frames = await engine.replay(task_id="t1", after_seq=0)
    assert last(frames)["phase"] == "errored"
    assert events(frames, "error")[0]["message"] == "A hook refused this message: not that"
    assert ran(frames) == [(event, "blocked")]
    assert model.calls == []


async def test_a_message_is_shown_to_its_hook_although_the_session_had_begun(
    model: ModelServer, tmp_path: Path
) -> None:
    path = tmp_path / "brain.sqlite"
    await left_by_a_crash(path, spoke("SessionStart"))
    hooks = {"SessionStart": [{"command": "true"}], "UserPromptSubmit": [{"command": "echo no >&2; exit 2"}]}
    async with hooked(model, tmp_path, hooks, sqlite_db_path=path) as engine:
        frames = await engine.replay(task_id="t1", after_seq=0)
    assert ran(frames) == [("SessionStart", "success"), ("UserPromptSubmit", "blocked")]
    assert last(frames)["phase"] == "errored"


@pytest.mark.parametrize(
    ("tool", "given", "still", "error"),
    [
        ("write_file", {"path": "a.txt", "content": "alpha"}, True, "hook_blocked"),
        ("write_file", {"path": "a.txt", "content": "alpha"}, False, "permission_denied"),
        ("ask_user", {"question": "May I?"}, True, "hook_blocked"),
    ],
)
async def test_a_refused_call_stays_refused_after_a_kill(
    model: ModelServer, tmp_path: Path, tool: str, given: dict[str, Any], still: bool, error: str
) -> None:
    path = tmp_path / "brain.sqlite"
    block = ToolUseBlock(id="one", name=tool, input=given)
    await left_by_a_crash(
        path,
        ContentBlockStop(block_index=0, block_type="tool_use", step=1, block=block),
        Usage(step=1, message_id="m", model="x", stop_reason="tool_use", input_tokens=1, output_tokens=1),
        spoke("PreToolUse", blocked=True, tool_call_id="one"),
    )
    model.enqueue(Reply([Text("no")]))
    hooks = {"PreToolUse": [{"command": "true"}]} if still else {}
    async with hooked(model, tmp_path, hooks, sqlite_db_path=path) as engine:
        frames = await asyncio.wait_for(engine.replay(task_id="t1", after_seq=0), 20)
    assert [result["error"] for result in events(frames, "tool_result")] == [error]
    assert ran(frames) == [("PreToolUse", "blocked")]
    assert not events(frames, "tool_call")
    assert not events(frames, "hitl_request")
    assert last(frames)["phase"] == "completed"


async def test_a_stop_hook_sends_the_turn_round_once(model: ModelServer, tmp_path: Path) -> None:
    async with hooked(model, tmp_path, {"Stop": [{"command": "echo 'run the tests' >&2; exit 2"}]}) as engine:
        model.enqueue(Reply([Text("I am done.")]), Reply([Text("Tests pass.")]))
        frames = await engine.execute("go")
    assert transitions(frames) == ["stop_hook_continuation"]
    assert "run the tests" in str(model.calls[-1].body["messages"][-1])
    assert last(frames)["stop_reason"] == "end_turn"
    assert ran(frames) == [("Stop", "blocked")]


DANGEROUS = ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")
ALLOW = {"command": 'echo \'{"permissionDecision": "allow"}\''}


def rules(directory: Path, *given: dict[str, str]) -> dict[str, Path]:
    path = directory / "rules.json"
    path.write_text(json.dumps({"rules": given}))
    return {"permission_rules_path": path}


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
async def test_a_hook_can_answer_in_place_of_a_person(model: ModelServer, tmp_path: Path, event: str) -> None:
    async with hooked(model, tmp_path, {event: [ALLOW]}) as engine:
        model.enqueue(Reply([DANGEROUS]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert not events(frames, "hitl_request")
    assert "error" not in events(frames, "tool_result")[0]
    assert last(frames)["phase"] == "completed"


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
@pytest.mark.parametrize(("behavior", "asked"), [("deny", False), ("ask", True)])
async def test_a_hooks_approval_overrides_no_rule(
    model: ModelServer, tmp_path: Path, event: str, behavior: str, asked: bool
) -> None:
    chosen = rules(tmp_path, {"tool": "bash", "behavior": behavior})
    async with hooked(model, tmp_path, {event: [ALLOW]}, **chosen) as engine:
        model.enqueue(Reply([DANGEROUS]), Reply([Text("done")]))
        async with engine.executing("go") as stream:
            if asked:
                await stream.until("hitl_request")
                return
            frames = await stream.rest()
    assert events(frames, "tool_result")[0]["error"] == "permission_denied"


async def test_of_several_hooks_the_strictest_is_heard(model: ModelServer, tmp_path: Path) -> None:
    deny = {"command": 'echo \'{"permissionDecision": "deny"}\''}
    async with hooked(model, tmp_path, {"PreToolUse": [deny, ALLOW]}) as engine:
        model.enqueue(Reply([DANGEROUS]), Reply([Text("done")]))
        frames = await engine.execute("go")
    assert not events(frames, "tool_call")
    assert events(frames, "tool_result")[0]["error"] in ("permission_denied", "hook_blocked")


async def test_a_hook_can_ask_for_a_person_or_refuse_in_their_place(model: ModelServer, tmp_path: Path) -> None:
    ask = {"matcher": "glob", "command": 'echo \'{"permissionDecision": "ask"}\''}
    refuse = {"command": "echo 'not without the boss' >&2; exit 2"}
    async with hooked(model, tmp_path, {"PreToolUse": [ask], "PermissionRequest": [refuse]}) as engine:
        model.enqueue(Reply([LOOK]), Reply([Text("no")]))
        frames = await engine.execute("go")
    assert events(frames, "tool_result")[0]["error"] == "hook_blocked"
    assert "not without the boss" in events(frames, "tool_result")[0]["output"]
    assert ran(frames) == [("PreToolUse", "success"), ("PermissionRequest", "blocked")]


@asynccontextmanager
async def web_server(answer: bytes, status: str = "200 OK") -> AsyncIterator[tuple[str, list[bytes]]]:
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n") if b":" in line)
        length = int(fields[b"content-length"])
        heard.append(head + await reader.readexactly(length))
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(answer)}\r\n\r\n".encode() + answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", heard


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (b'{"decision": "block", "reason": "closed"}', "200 OK", "hook_blocked"),
        (b"", "204 No Content", None),
        (b"down", "503 Service Unavailable", None),
    ],
)
async def test_a_web_address_is_asked(
    model: ModelServer,
    tmp_path: Path,
    answer: bytes,
    status: str,
    error: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "for-the-hook-alone")
    async with web_server(answer, status) as (url, heard):
        hook = {"url": url, "headers": {"Authorization": "Bearer ${HOOK_TOKEN}"}}
        async with hooked(model, tmp_path, {"PreToolUse": [hook]}) as engine:
            model.enqueue(Reply([WRITE]), Reply([Text("done")]))
            frames = await engine.execute("go")
    assert events(frames, "tool_result")[0].get("error") == error
    assert b"Bearer for-the-hook-alone" in heard[0]
    assert b'"tool_name":"write_file"' in heard[0]


async def test_flags_switch_hooks_off(model: ModelServer, tmp_path: Path) -> None:
    block = [{"command": "exit 2"}]
    hooks = {"PreToolUse": block, "PostToolUse": block, "Stop": block}
    off = {"pre_tool_hooks_enabled": "false", "post_tool_hooks_enabled": "false", "stop_hooks_enabled": "false"}
    async with hooked(model, tmp_path, hooks, **off) as engine:
        model.enqueue(Reply([WRITE]), Reply([Text("done")]))
        assert ran(await engine.execute("go")) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"hooks": {"BeforeLunch": []}}', "BeforeLunch"),
        ('{"hooks": {"Stop": [{"command": "true", "url": "http://x"}]}}', "exactly one"),
        ('{"hooks": {"Stop": [{"url": "ftp://x"}]}}', "http://"),
        ('{"hooks": {"Stop": [{"command": "true", "timeout": 0}]}}', "timeout"),
        ('{"hooks": {"Stop": [{"command": "true", "on_error": "explode"}]}}', "on_error"),
        ('{"hooks": {"Stop": [{"comand": "true"}]}}', "comand"),
        ("not json", "HOOKS_PATH"),
    ],
)
def test_a_wrong_file_is_refused_at_start(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "hooks.json"
    path.write_text(content)
    with pytest.raises(EngineError, match=complaint):
        load(Settings.model_validate({"hooks_path": path}))


def test_a_file_that_tools_can_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    path.write_text('{"hooks": {}}')
    with pytest.raises(EngineError, match="tools can write"):
        load(Settings.model_validate({"hooks_path": path, "allowed_roots": str(tmp_path)}))
    with pytest.raises(EngineError, match="cannot be read"):
        load(Settings.model_validate({"hooks_path": tmp_path / "missing.json"}))
