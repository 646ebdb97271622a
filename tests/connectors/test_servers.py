"""Servers that other people wrote, in Python and for Node, used by the agent through `/execute` in the sandbox."""

import asyncio
import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.connectors.conftest import Installed
from tests.engine_core.frames import events
from tests.live import Live, live

pytestmark = pytest.mark.connectors


def python(installed: Installed, module: str, *arguments: str) -> dict[str, Any]:
    return {
        "transport": "stdio",
        "command": [installed.python, "-m", module, *arguments],
        "environment": {"PYTHONPATH": str(installed.place / "python")},
        "readable": [str(installed.place)],
        "policy": {"*": "allow"},
    }


def node(installed: Installed, package: str, *arguments: str) -> dict[str, Any]:
    script = installed.node_modules / "@modelcontextprotocol" / package / "dist" / "index.js"
    return {
        "transport": "stdio",
        "command": ["/usr/bin/node", str(script), *arguments],
        "readable": [str(installed.place)],
        "policy": {"*": "allow"},
    }


def written(place: Path, **servers: dict[str, Any]) -> Path:
    (place / "catalog" / "mcp").mkdir(parents=True)
    for name, server in servers.items():
        (place / "catalog" / "mcp" / f"{name}.json").write_text(json.dumps(server))
    return place / "catalog"


async def used(aster: Live, model: ModelServer, name: str, *wanted: tuple[str, dict[str, Any]]) -> list[Any]:
    """Connect a server and have the agent make these calls; every frame of the turn."""
    response = await aster.http.post("/assets/connect", json={"server_name": name})
    assert response.status_code == 200, response.text
    made = [Reply([ToolCall(tool, given, id=f"c{at}")]) for at, (tool, given) in enumerate(wanted)]
    model.enqueue(*made, Reply([Text("done")]))
    return await aster.execute("go", f"task-{name}")


def outputs(frames: list[Any]) -> list[str]:
    results = events(frames, "tool_result")
    assert all("error" not in result for result in results), results
    return [result["output"] for result in results]


async def test_time(model: ModelServer, installed: Installed, tmp_path: Path) -> None:
    servers = written(tmp_path, time=python(installed, "mcp_server_time", "--local-timezone", "UTC"))
    async with live(model, catalog_dir=servers, sandbox="auto") as aster:
        given = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        frames = await used(aster, model, "time", ("time.convert_time", given))
        assert "Asia/Tokyo" in outputs(frames)[0]


async def test_git(model: ModelServer, installed: Installed, tmp_path: Path) -> None:
    servers = written(tmp_path, git=python(installed, "mcp_server_git"))
    async with live(model, catalog_dir=servers, sandbox="auto") as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "git"})
        assert response.status_code == 200, response.text
        own = next(path for path in (aster.engine.settings.data_dir / "assets").glob("*/git"))
        subprocess.run(["git", "init", "--quiet", str(own)], check=True)
        (own / "new.txt").write_text("new")
        frames = await used(aster, model, "git", ("git.git_status", {"repo_path": str(own)}))
        assert "new.txt" in outputs(frames)[0]


async def test_fetch_has_no_network_unless_it_is_allowed(
    model: ModelServer, installed: Installed, tmp_path: Path
) -> None:
    servers = written(tmp_path, fetch=python(installed, "mcp_server_fetch", "--ignore-robots-txt"))
    async with live(model, catalog_dir=servers, sandbox="auto") as aster:
        frames = await used(aster, model, "fetch", ("fetch.fetch", {"url": f"{aster.url}/health"}))
        assert events(frames, "tool_result")[0]["error"]


async def test_files(model: ModelServer, installed: Installed, tmp_path: Path) -> None:
    servers = written(tmp_path, files=node(installed, "server-filesystem", "${WORKSPACE}"))
    async with live(model, catalog_dir=servers, sandbox="auto") as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "files"})
        assert response.status_code == 200, response.text
        own = next(path for path in (aster.engine.settings.data_dir / "assets").glob("*/files"))
        frames = await used(
            aster,
            model,
            "files",
            ("files.write_file", {"path": str(own / "a.txt"), "content": "hello"}),
            ("files.read_text_file", {"path": str(own / "a.txt")}),
            ("files.list_directory", {"path": str(own)}),
        )
        assert outputs(frames)[1] == "hello"
        frames = await used(aster, model, "files", ("files.read_text_file", {"path": "/etc/shadow"}))
        assert events(frames, "tool_result")[0]["error"] == "tool_failed"


async def test_memory(model: ModelServer, installed: Installed, tmp_path: Path) -> None:
    server = node(installed, "server-memory") | {"environment": {"MEMORY_FILE_PATH": "${WORKSPACE}/memory.jsonl"}}
    async with live(model, catalog_dir=written(tmp_path, memory=server), sandbox="auto") as aster:
        entity = {"name": "Max", "entityType": "dog", "observations": ["is called Max"]}
        frames = await used(
            aster,
            model,
            "memory",
            ("memory.create_entities", {"entities": [entity]}),
            ("memory.search_nodes", {"query": "dog"}),
        )
        assert "is called Max" in outputs(frames)[1]


async def test_everything(model: ModelServer, installed: Installed, tmp_path: Path) -> None:
    servers = written(tmp_path, all=node(installed, "server-everything", "stdio"))
    async with live(model, catalog_dir=servers, sandbox="auto", mcp_tools_tokens=100_000) as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "all"})
        assert response.status_code == 200, response.text
        frames = await used(
            aster,
            model,
            "all",
            ("all.echo", {"message": "hi there"}),
            ("all.get-sum", {"a": 2, "b": 40}),
            ("all.get-tiny-image", {}),
            ("all.trigger-long-running-operation", {"duration": 1, "steps": 2}),
            ("all.read_resource", {}),
            ("all.get_prompt", {"name": "simple-prompt"}),
        )
        said = outputs(frames)
        assert "hi there" in said[0]
        assert "42" in said[1]
        assert any(block["type"] == "image" for block in events(frames, "tool_result")[2]["content"])
        assert events(frames, "tool_progress")
        assert "demo://" in said[4]


async def test_everything_asks_a_person_and_a_model(
    model: ModelServer, installed: Installed, tmp_path: Path
) -> None:
    servers = written(tmp_path, all=node(installed, "server-everything", "stdio"))
    async with live(model, catalog_dir=servers, sandbox="auto") as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "all"})
        assert response.status_code == 200, response.text
        think = ToolCall("all.trigger-sampling-request", {"prompt": "a word", "maxTokens": 20}, id="c1")
        model.enqueue(Reply([think]), Reply([Text("sampled")]), Reply([Text("done")]))
        frames = await aster.execute("go", "t1")
        assert "sampled" in outputs(frames)[0]
        model.enqueue(Reply([ToolCall("all.trigger-elicitation-request", {}, id="c2")]), Reply([Text("done")]))
        async with aster.executing("go", "t2") as stream:
            asked = (await stream.until("hitl_request")).data
            assert asked["kind"] == "elicitation"
            answer = {"request_id": asked["request_id"], "answer": "decline"}
            assert (await aster.http.post("/hitl/respond", json=answer)).status_code == 200
            frames = await stream.rest()
        assert "declined" in outputs(frames)[0].lower()


@pytest.mark.parametrize(
    ("transport", "mode", "path"), [("http", "streamableHttp", "/mcp"), ("sse", "sse", "/sse")]
)
async def test_everything_over_http_with_sessions(
    model: ModelServer, installed: Installed, tmp_path: Path, transport: str, mode: str, path: str
) -> None:
    """The older eras: a session that the server keeps, and the two addresses before that."""
    script = installed.node_modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["/usr/bin/node", str(script), mode]
    environment = {"PATH": os.environ["PATH"], "PORT": str(port)}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        await listening(port)
        found = {"transport": transport, "url": f"http://127.0.0.1:{port}{path}", "policy": {"*": "allow"}}
        async with live(model, catalog_dir=written(tmp_path, all=found), mcp_tools_tokens=100_000) as aster:
            frames = await used(
                aster, model, "all", ("all.echo", {"message": "hi there"}), ("all.get-sum", {"a": 2, "b": 40})
            )
            assert "42" in outputs(frames)[1]
            server.kill()
            server.wait()
            server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            await listening(port)
            model.enqueue(Reply([ToolCall("all.echo", {"message": "again"}, id="c9")]), Reply([Text("done")]))
            frames = await aster.execute("go", "after")
            assert "again" in outputs(frames)[0]
    finally:
        server.kill()
        server.wait()


async def listening(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise AssertionError("the server does not listen")
