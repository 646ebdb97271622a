"""A replica of `aster cluster`: nothing of it is left once it was told to end."""

import asyncio
import os
from pathlib import Path

from aster.cli.replica import Replica


async def test_one_that_is_just_being_started_ends_too(tmp_path: Path) -> None:
    said: list[str] = []
    environ = {**os.environ, "SQLITE_DB_PATH": str(tmp_path / "brain.sqlite"), "LLM_PROVIDER": "demo"}
    replica = Replica(1, 0, environ, tmp_path / "log", said.append)
    keeping = asyncio.create_task(replica.keep())
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(20):
            await replica.end(patience=10)
            await keeping
    finally:
        await replica.end(patience=0)
        await keeping
    assert len(said) <= 1, "it is not started again"
