"""An engine of the session's own, in a child process, for people who have not started one.

It ends with the session. It listens where the machine's engine would, so other commands find it too; it leads a
session of its own, so that Ctrl-C in the terminal reaches the turn and not the engine.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aster.client import AsterClient, EngineUnreachable
from aster.contracts.errors import EngineError, ErrorCode

START_SECONDS = 30.0
STOP_SECONDS = 10.0
DRAIN_SECONDS = "3"


@asynccontextmanager
async def embedded(client: AsterClient, log: Path, env: Mapping[str, str] | None = None) -> AsyncGenerator[None]:
    """Run an engine at the client's address while the context lasts; its output goes to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    chosen = {"DRAIN_SECONDS": DRAIN_SECONDS, "ENGINE_LOG_FORMAT": "text", **os.environ, **(env or {})}
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "aster.cli",
            "serve",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=chosen,
            start_new_session=True,
        )
    try:
        await _ready(client, process, log)
        yield
    finally:
        await _stop(process)


async def _ready(client: AsterClient, process: asyncio.subprocess.Process, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.returncode is not None:
            raise EngineError(ErrorCode.INTERNAL, f"The engine did not start. {_last_words(log)}")
        try:
            if (await client.health()).status in ("ok", "degraded"):
                return
        except EngineUnreachable:
            pass
        await asyncio.sleep(0.05)
    raise EngineError(ErrorCode.INTERNAL, f"The engine did not start in time; its log is {log}.")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("aster: ") if lines else f"Its log is {log}."
