"""Several engines on one database, each a process of its own, and a client for each."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.live import Seen, Stream
from tests.process import Process, engine

KEY = "the-operators-key"


class Replica:
    """One engine and a client that has the operator's key."""

    def __init__(self, process: Process, http: httpx2.AsyncClient) -> None:
        self.process = process
        self.http = http

    async def execute(self, message: str, task_id: str, **body: Any) -> list[Seen]:
        """Run a turn to its end, or until it waits; every frame of its stream."""
        sent = {"message": message, "task_id": task_id, **body}
        async with self.http.stream("POST", "/execute", json=sent) as response:
            if response.status_code != 200:
                raise AssertionError(await response.aread())
            stream = Stream(response)
            async for frame in stream:
                if frame.event == "thread_lifecycle" and frame.data["phase"] == "suspended":
                    break
        return stream.seen

    async def call(self, tool: str, task_id: str, **given: Any) -> dict[str, Any]:
        """What a tool gave in a turn of a task."""
        frames = await self.execute(f"[[text=3 tools=1 tool={tool} input={json.dumps(given)}]] Do it.", task_id)
        (result,) = (frame.data for frame in frames if frame.event == "tool_result")
        return result


@asynccontextmanager
async def replicas(
    directory: Path, model_url: str, database_url: str, count: int = 2, **env: str
) -> AsyncGenerator[list[Replica]]:
    """So many engines with the same settings and the same files, until the block ends."""
    settings = {"DATABASE_URL": database_url, "ENGINE_API_KEY": KEY, "TASK_TITLES": "false", **env}
    processes = [engine(directory, model_url, **settings) for _ in range(count)]
    async with AsyncExitStack() as stack:
        for process in processes:
            stack.push_async_callback(process.kill)
        await asyncio.gather(*(process.up() for process in processes))
        yield [
            Replica(
                process,
                await stack.enter_async_context(
                    httpx2.AsyncClient(
                        base_url=process.url, headers={"X-Engine-Key": KEY}, timeout=30, trust_env=False
                    )
                ),
            )
            for process in processes
        ]


async def soon(holds: Callable[[], Awaitable[bool]], seconds: float = 1.0) -> None:
    """Something is true within so many seconds."""
    async with asyncio.timeout(seconds):
        while not await holds():
            await asyncio.sleep(0.02)
