"""The process of a model: what cannot be loaded is said, and it never runs without somebody who wants it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError
from aster.herald.local.server import ModelProcess


async def test_a_file_that_is_no_model_is_said_to_be(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"not a model " * 100)
    process = ModelProcess(wrong, "wrong", 512, tmp_path / "log")
    with pytest.raises(EngineError, match="could not be loaded"):
        await process.start()
    assert not await process.healthy()
    assert await process.ended(5)


async def test_how_a_process_was_killed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = ModelProcess(tmp_path / "any.gguf", "any", 512, tmp_path / "log")
    with pytest.raises(EngineError, match="ended by SIGILL"):
        await process.start()


async def test_a_start_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    process = ModelProcess(tmp_path / "any.gguf", "any", 512, tmp_path / "log")
    starting = asyncio.create_task(process.start())
    await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await process.stop()
    assert process.pid is None or await process.ended(5)


def test_without_orders_it_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aster.herald.local.child"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, "orders" in done.stderr) == (1, True)
