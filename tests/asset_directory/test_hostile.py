"""A hostile server is contained: what it claims counts for nothing, what it does stays within its call."""

import asyncio
import contextlib
import gc
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aster.asset_directory.stdio import Complaints
from aster.testing import ModelServer, Reply, Text
from tests.asset_directory.conftest import ROOT
from tests.asset_directory.test_directory import ALLOWED, calls, connect
from tests.engine_core.frames import events
from tests.live import Live, live

Catalog = Callable[..., Path]
SCRIPT = ROOT / "tests" / "asset_directory" / "hostile.py"


def hostile(*arguments: str, **more: Any) -> dict[str, Any]:
    code = SCRIPT.read_text()
    return {
        "transport": "stdio",
        "command": ["/usr/bin/python3", "-c", code, *arguments],
        "timeout_seconds": 3,
        **more,
    }


@pytest.fixture
def described() -> Iterator[Path]:
    """A file that tools of any uid can read."""
    with tempfile.TemporaryDirectory(prefix="aster-mcp-") as directory:
        place = Path(directory)
        place.chmod(0o755)
        (place / "description").write_text("Looks at a thing.")
        yield place / "description"


async def answered(aster: Live, task_id: str, answer: str, message: str = "go") -> list[Any]:
    async with aster.executing(message, task_id) as stream:
        request = (await stream.until("hitl_request")).data
        response = await aster.http.post(
            "/hitl/respond", json={"request_id": request["request_id"], "answer": answer}
        )
        assert response.status_code == 200, response.text
        return await stream.rest()


async def test_hints_of_a_server_spare_no_question(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile())) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.wipe", {})))
        frames = await answered(aster, "t1", "no")
        prompt = events(frames, "permission_prompt")[0]
        assert (prompt["tool"], prompt["decided_by"]) == ("bad.wipe", "judgement")
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        assert events(frames, "tool_call") == []
        model.enqueue(*calls(("bad.wipe", {})))
        frames = await aster.execute("go", "t2", permission_mode="plan")
        assert "plan mode" in events(frames, "tool_result")[0]["output"]


async def test_a_grant_is_void_once_the_tool_describes_itself_differently(
    model: ModelServer, catalog: Catalog, described: Path
) -> None:
    settings = {"catalog_dir": catalog(bad=hostile("changing", str(described))), "mcp_idle_seconds": 0.2}
    async with live(model, **settings) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.look", {})))
        frames = await answered(aster, "t1", "always everywhere")
        assert events(frames, "tool_result")[0]["output"] == "look done"
        model.enqueue(*calls(("bad.look", {})))
        frames = await aster.execute("go", "t2")
        assert events(frames, "permission_prompt") == []
        assert events(frames, "tool_call")[0]["grant_id"].startswith("grant-")
        thought = {"tool": "bad.look", "input": {}}
        assert (await aster.http.post("/permissions/test", json=thought)).json()["behavior"] == "allow"
        described.write_text("Looks at a thing and sends your files away.")
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.look", {})))
        frames = await answered(aster, "t3", "no")
        assert len(events(frames, "permission_prompt")) == 1
        assert events(frames, "tool_call") == []
        given = {"tool": "bad.look", "pattern": "*", "behavior": "allow"}
        assert (await aster.http.post("/permissions", json=given)).status_code == 200
        assert (await aster.http.post("/permissions/test", json=thought)).json()["behavior"] == "allow"


async def test_what_was_allowed_is_what_is_called(model: ModelServer, catalog: Catalog, described: Path) -> None:
    """The tool changes between the question and the answer: a yes to the one is no yes to the other."""
    async with live(model, catalog_dir=catalog(bad=hostile("changing", str(described)))) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.look", {})))
        async with aster.executing("go") as stream:
            first = (await stream.until("hitl_request")).data
            described.write_text("Sends your files away.")
            await connect(aster, "bad")
            await aster.http.post("/hitl/respond", json={"request_id": first["request_id"], "answer": "yes"})
            second = (await stream.until("hitl_request")).data
            assert second["request_id"] != first["request_id"]
            await aster.http.post("/hitl/respond", json={"request_id": second["request_id"], "answer": "no"})
            frames = await stream.rest()
        assert events(frames, "tool_call") == []


async def test_floods_stalls_crashes_and_nonsense_stay_within_their_call(
    model: ModelServer, catalog: Catalog
) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile(**ALLOWED))) as aster:
        await connect(aster, "bad")
        model.enqueue(
            *calls(
                ("bad.huge", {}),
                ("bad.nonsense", {}),
                ("bad.crash", {}),
                ("bad.wipe", {}),
                ("bad.endless", {}),
                ("bad.wipe", {}),
                ("bad.hang", {}),
            )
        )
        frames = await aster.execute("go")
        huge, nonsense, crash, after, endless, again, hang = events(frames, "tool_result")
        assert huge["artifacts"][0]["size"] == 3_300_000
        assert len(huge["output"]) < 20_000
        assert nonsense["error"] == "invalid_answer"
        assert crash["error"] == "MCP_CONNECTION_FAILED"
        assert after["output"] == "wipe done"
        assert endless["error"] == "MCP_CONNECTION_FAILED"
        assert again["output"] == "wipe done"
        assert hang["error"] == "timeout"
        assert [state["status"] for state in events(frames, "asset_state")] == ["connected", "connected"]


async def test_its_words_reach_the_model_as_data(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile(**ALLOWED))) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.poison", {})))
        await aster.execute("go")
        shown = json.dumps(model.calls[1].body, ensure_ascii=False)
        assert "</untrusted-00000000>" not in shown
        assert "\u202e" not in shown
        assert "\U000e0041" not in shown
        assert "[quoted] /untrusted-00000000" in shown
        poison = next(
            tool["function"] for tool in model.calls[0].body["tools"] if tool["function"]["name"] == "bad__poison"
        )
        assert poison["description"].startswith("[bad] Harmless.")


async def test_names_that_collide_or_do_not_fit_are_left_out(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile("colliding", **ALLOWED))) as aster:
        connection = await connect(aster, "bad")
        assert connection["tools"] == 2
        for problem in ("another action", "too long", "outside of it", "larger than"):
            assert problem in connection["reason"]
        model.enqueue(*calls(("bad.a_b", {})))
        frames = await aster.execute("go")
        assert events(frames, "tool_result")[0]["output"] == "a.b done"


async def test_tools_that_are_none_are_left_out_and_named(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile("malformed", **ALLOWED))) as aster:
        connection = await connect(aster, "bad")
        assert connection["tools"] == 1
        for problem in ("'bare' is no tool (inputSchema", "'texts'", "one without a name", "'hinting'"):
            assert problem in connection["reason"]
        model.enqueue(*calls(("bad.fine", {})))
        assert "error" not in events(await aster.execute("go"), "tool_result")[0]


async def test_a_server_that_cannot_start_says_why_and_is_left_alone(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile("dead"))) as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "bad"})
        assert (response.status_code, response.json()["error"]) == (502, "MCP_CONNECTION_FAILED")
        assert "no such database" in response.json()["message"]
        assert (await aster.http.get("/assets/connections")).json() == []
        gc.collect()
        assert not [one for one in gc.get_objects() if isinstance(one, Complaints)]


async def test_a_server_that_keeps_crashing_is_not_called_for_a_while(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile(**ALLOWED))) as aster:
        await connect(aster, "bad")
        for turn in range(3):
            model.enqueue(*calls(("bad.crash", {})))
            await aster.execute("go", f"t{turn}")
        model.enqueue(*calls(("bad.wipe", {})))
        frames = await aster.execute("go", "t9")
        assert "it is tried again in" in events(frames, "tool_result")[0]["output"]


async def test_it_gets_no_answer_that_a_person_did_not_give(model: ModelServer, catalog: Catalog) -> None:
    settings = {"catalog_dir": catalog(bad=hostile(**ALLOWED)), "unattended_policy": "deny"}
    async with live(model, **settings) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.asks", {})))
        frames = await aster.execute("go", unattended=True)
        assert '"action": "cancel"' in events(frames, "tool_result")[0]["output"]
        model.enqueue(*calls(("bad.asks", {})))
        frames = await answered(aster, "t2", "decline")
        assert '"action": "decline"' in events(frames, "tool_result")[0]["output"]
        question = events(frames, "hitl_request")[0]
        assert question["kind"] == "elicitation"
        assert "\u202e" not in question["question"]


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
async def test_a_program_runs_in_the_sandbox(model: ModelServer, catalog: Catalog, sandbox: str) -> None:
    code = (
        "import os, sys, json\n"
        "try:\n    secret = open(sys.argv[1]).read()\nexcept OSError:\n    secret = ''\n"
        "seen = {'secret': bool(secret), 'env': 'PYTHONPATH' in os.environ}\n"
        f"{SCRIPT.read_text().replace('{name} done', '{json.dumps(seen)}')}"
    )
    server = hostile(**ALLOWED) | {"command": ["python3", "-c", code, str(Path(__file__)), "x"]}
    async with live(model, catalog_dir=catalog(bad=server), sandbox=sandbox) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.wipe", {})))
        frames = await aster.execute("go")
        assert events(frames, "tool_result")[0]["output"] == '{"secret": false, "env": false}'


async def test_five_hundred_tools_are_found_when_they_are_needed(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(shop=hostile("many", **ALLOWED))) as aster:
        model.enqueue(Reply([Text("hello")]))
        await aster.execute("hi", "t0")
        assert (await connect(aster, "shop"))["tools"] == 500
        model.enqueue(
            *calls(
                ("find_tools", {"query": "remove thing42"}),
                ("call_tool", {"name": "shop.delete_thing42", "input": {"id": "7"}}),
                ("call_tool", {"name": "shop.nothing", "input": {}}),
                ("call_tool", {"name": "shop.delete_thing42", "input": {"id": 7}}),
            )
        )
        frames = await aster.execute("go")
        found, called, unknown, invalid = events(frames, "tool_result")
        assert "shop.delete_thing42" in found["output"]
        assert called["output"] == "delete_thing42 done"
        assert unknown["error"] == invalid["error"] == "invalid_input"
        issued = events(frames, "tool_call")[1]
        assert (issued["tool"], issued["as_tool"]) == ("call_tool", "shop.delete_thing42")
        before, after = (json.dumps(model.calls[at].body["tools"]) for at in (0, 1))
        assert len(after) - len(before) < 2000 * 3
        assert len({json.dumps(request.body["tools"]) for request in model.calls[1:]}) == 1


async def test_a_question_of_an_older_server_is_answered_in_its_session(
    model: ModelServer, catalog: Catalog
) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile(**ALLOWED))) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.asks", {})))
        frames = await answered(aster, "t1", "hunter2")
        assert '"content": {"password": "hunter2"}' in events(frames, "tool_result")[0]["output"]
        assert [call.get("attempt", 1) for call in events(frames, "tool_call")] == [1, 2]


async def test_a_question_of_an_older_server_that_was_lost_is_not_asked_twice(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    settings = {"catalog_dir": catalog(bad=hostile(**ALLOWED)), "sqlite_db_path": tmp_path / "brain.sqlite"}
    async with live(model, **settings) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.asks", {})))
        async with aster.executing("go") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, **settings) as aster:
        asked = (await aster.http.get("/hitl/pending")).json()["pending"][0]
        answer = {"request_id": asked["request_id"], "answer": "hunter2"}
        assert (await aster.http.post("/hitl/respond", json=answer)).status_code == 200
        async with aster.replaying(task_id="t1", after_seq=0) as stream:
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["error"] == "in_doubt"
        assert "was not called again" in events(frames, "tool_result")[0]["output"]


async def test_an_answer_over_http_without_end_is_cut_off(model: ModelServer, catalog: Catalog) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[")
        with contextlib.suppress(OSError):
            while True:
                writer.write(b"1," * (1 << 19))
                await writer.drain()

    server = await asyncio.start_server(flood, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, live(model, catalog_dir=catalog(bad={"url": f"http://127.0.0.1:{port}/"})) as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "bad"})
        assert (response.status_code, "larger than" in response.text) == (502, True), response.text


async def test_a_question_of_a_cancelled_turn_keeps_nobody_waiting(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile(**ALLOWED))) as aster:
        await connect(aster, "bad")
        model.enqueue(*calls(("bad.asks", {})))
        async with aster.executing("go") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
            (held,) = next(iter(filter(None, aster.engine.assets._users.values()))).held.values()
            assert held.link is not None
            assert held.link.busy
            await aster.http.post("/execute/cancel", json={"task_id": "t1"})
            await stream.rest()
        assert held.link.exchanges == {}


async def test_a_program_that_died_meanwhile_is_started_again(model: ModelServer, catalog: Catalog) -> None:
    async with live(model, catalog_dir=catalog(bad=hostile("dying", **ALLOWED))) as aster:
        await connect(aster, "bad")
        (held,) = next(iter(filter(None, aster.engine.assets._users.values()))).held.values()
        assert held.link is not None
        await held.link._closing.wait()
        model.enqueue(*calls(("bad.wipe", {})))
        frames = await aster.execute("go")
        assert events(frames, "tool_result")[0]["output"] == "wipe done"
        assert events(frames, "asset_state")[0]["status"] == "connected"
