"""MCP servers with the official SDK, over HTTP on loopback: what well-behaved servers do."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, ElicitationResult, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel


def made() -> MCPServer:
    server = MCPServer("fixture", version="1.0")

    @server.tool()
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return str(a + b)

    @server.tool()
    def echo(text: str) -> str:
        """Says what it was told."""
        return text

    @server.tool()
    def fail() -> str:
        """Always fails."""
        raise ToolError("nothing works here")

    @server.tool()
    def long(lines: int) -> str:
        """Says a lot."""
        return "\n".join(f"line {number}" for number in range(lines))

    @server.tool()
    async def slow(ctx: Context) -> str:
        """Takes its time and says how far it is."""
        for step in range(3):
            await ctx.report_progress(step + 1, 3, f"step {step + 1}")
        return "done slowly"

    @server.tool()
    async def announce(ctx: Context) -> str:
        """Tells that there are other tools now."""
        await ctx.notify_tools_changed()
        await asyncio.sleep(0.3)
        return "told"

    @server.tool()
    async def forever() -> str:
        """Never ends."""
        await asyncio.sleep(3600)
        return "never"

    @server.resource("note://one")
    def note() -> str:
        """A note."""
        return "the note says hello"

    @server.prompt()
    def greet(name: str) -> str:
        """How to greet somebody."""
        return f"Say hello to {name}."

    return server


class Colour(BaseModel):
    colour: str


def which_colour() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


def a_word() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="A word?"))], max_tokens=50)


def asking() -> MCPServer:
    """One that asks back: a person for a colour, a model for a word."""
    server = MCPServer("asking", version="1.0")

    @server.tool()
    def paint(answer: Annotated[ElicitationResult[Colour], Resolve(which_colour)]) -> str:
        """Asks for a colour first."""
        return f"painted {answer.data.colour}" if answer.action == "accept" else f"not painted: {answer.action}"

    @server.tool()
    def think(answer: Annotated[CreateMessageResult, Resolve(a_word)]) -> str:
        """Has a model think."""
        assert isinstance(answer.content, TextContent)
        return f"the model said: {answer.content.text}"

    return server


@asynccontextmanager
async def serving(
    server: MCPServer, seen: list[str] | None = None, accepted: set[str] | None = None
) -> AsyncGenerator[str]:
    """The address of a server over HTTP for as long as the block lasts; `seen` gets who asks, as headers tell, and
    only the `accepted` are answered."""
    inner = server.streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if seen is not None:
            seen.extend(value.decode() for name, value in scope.get("headers", ()) if name == b"authorization")
        if accepted is not None and scope["type"] == "http":
            given = {value.decode() for name, value in scope["headers"] if name == b"authorization"}
            if not given & accepted:
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        await inner(scope, receive, send)

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    task = asyncio.create_task(running.serve([listening]))
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task
        listening.close()
