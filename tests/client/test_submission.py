"""A message that has to be sent again is the same message to the engine."""

import asyncio
import json
import re

import pytest

from aster.client import AsterClient, EngineError


async def test_every_attempt_has_the_same_name() -> None:
    names: list[str] = []
    away = json.dumps({"error": "DRAINING", "message": "Going away.", "retry": "after"}).encode()
    unknown = json.dumps({"error": "TASK_NOT_FOUND", "message": "No.", "retry": "never"}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Cuts the first post, and has no place for the others; the thread never has the message."""
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = re.search(r"content-length: (\d+)", request, re.IGNORECASE)
        await reader.readexactly(int(size[1]) if size else 0)
        status, body = ("404 Not Found", unknown) if request.startswith("GET") else ("503 Busy", away)
        if name := re.search(r"idempotency-key: (\w+)", request, re.IGNORECASE):
            names.append(name[1])
        if len(names) != 1 or request.startswith("GET"):
            head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with AsterClient(url, patience=1.0) as client:
            for _ in range(2):
                with pytest.raises(EngineError):
                    await client.ask("hello", "t1")
                assert len(names) > 1
                assert len(set(names)) == 1
                names = []
