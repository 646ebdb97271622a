"""The server as a process."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic

from aster.testing import Reply, Rule, Script, Text


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "aster.testing", *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        yield child, json.loads(await asyncio.wait_for(child.stdout.readline(), 20))
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def ask(url: str, text: str) -> str:
    async with AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        message = await client.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": text}]
        )
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_process_with_a_script(tmp_path: Path, number: signal.Signals) -> None:
    script = Script([Rule(Reply([Text("ho")]), match="hi")], queue=[Reply([Text("first")])])
    path = tmp_path / "script.json"
    path.write_bytes(script.dump())
    async with process("--script", str(path), "--rate", "1000") as (child, ready):
        assert ready["pid"] == child.pid
        assert [await ask(ready["url"], "hi") for _ in range(2)] == ["first", "ho"]
        child.send_signal(number)
        assert await asyncio.wait_for(child.wait(), 5) == 0


async def test_a_bad_script_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"rules": [{"reply": 1}]}')
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "aster.testing", "--script", str(path), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(child.communicate(), 20)
    assert child.returncode == 2
    assert b"cannot be used" in errors
