"""What a connected server's tool costs beyond the protocol: a call through the tool runtime, session, limits and pin,
beside the same call by the SDK's own client; and what five hundred connected tools add to a prompt.
"""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

import uvicorn
from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer

from aster.contracts.llm import ModelRequest
from aster.contracts.tools import ToolCall, ToolOutcome
from aster.engine_core.context.tokens import request_tokens
from aster.engine_core.engine import Engine
from aster.infra.settings import Settings
from aster.utility_directory.tool import ToolContext
from benchmarks.figures import Figure
from benchmarks.scale import Scale

USER = "default"
MANY = 500


def _server(tools: int) -> MCPServer:
    server = MCPServer("bench")
    for number in range(tools):

        def add(a: int, b: int) -> str:
            """Adds two numbers of this kind and says what they come to."""
            return str(a + b)

        server.add_tool(add, name=f"add_{number}")
    return server


@asynccontextmanager
async def _serving(server: MCPServer) -> AsyncGenerator[str]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))
    task = asyncio.create_task(running.serve([listening]))
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task
        listening.close()


async def called(directory: Path, scale: Scale) -> list[Figure]:
    """One server on loopback for both, called in turn."""
    place = directory / "catalog"
    (place / "mcp").mkdir(parents=True)
    async with _serving(_server(1)) as few, _serving(_server(MANY)) as many:
        for name, url in (("few", few), ("many", many)):
            server = {"url": url, "policy": {"*": "allow"}}
            (place / "mcp" / f"{name}.json").write_text(json.dumps(server))
        settings = {"llm_provider": "demo", "sqlite_db_path": directory / "data" / "brain.sqlite", "sandbox": "off"}
        engine = Engine(Settings.model_validate({**settings, "catalog_dir": place}))
        await engine.start()
        try:
            before = _tokens(engine)
            await engine.assets.connect(USER, "few")
            async with Client(few, cache=None) as bare:
                ours, theirs = await _in_turn(engine, bare, scale)
            await engine.assets.connect(USER, "many")
            added = _tokens(engine) - before
        finally:
            await engine.stop()
    return [
        Figure("connectors", "a call of a connected tool; beside it the SDK's client alone", "ms", ours, theirs),
        Figure("connectors", f"what {MANY} connected tools add to a prompt", "tokens", float(added)),
    ]


async def _in_turn(engine: Engine, bare: Client, scale: Scale) -> tuple[float, float]:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(10 * scale.commands):
        began = perf_counter()
        await _ours(engine, number)
        between = perf_counter()
        await bare.call_tool("add_0", {"a": number, "b": 1})
        ours.append((between - began) * 1e3)
        theirs.append((perf_counter() - between) * 1e3)
    return median(ours), median(theirs)


async def _ours(engine: Engine, number: int) -> None:
    tools = engine.connectors.tools(USER)
    prepared = tools.prepare(ToolCall(id=f"c{number}", name="few.add_0", input={"a": number, "b": 1}))
    assert not isinstance(prepared, ToolOutcome), prepared
    context = ToolContext(
        user_id=USER,
        task_id="t",
        turn_id="turn",
        tool_call_id=prepared.call.id,
        idempotency_key=prepared.call.id,
        workspace=engine.permissions._workspaces.planned(USER, "t"),  # noqa: SLF001
        sandbox=engine.sandbox,
    )
    assert tools.decide(prepared, context).behavior == "allow"
    outcome, _ = await tools.run(prepared, context)
    assert outcome.ok, outcome


def _tokens(engine: Engine) -> int:
    definitions = engine.connectors.tools(USER).registry.definitions
    return request_tokens(ModelRequest(model="demo", system="", messages=(), tools=definitions))
