"""The provider is asked how long a prompt is only when it may be too long and nothing near it was counted."""

from aster.testing import ModelServer, Reply, Text, Usage
from tests.live import live

ANTHROPIC = {"llm_provider": "anthropic", "llm_model": "claude-sonnet-4-5", "context_window": 60_000}
LONG = "word " * 30_000


async def test_a_first_message_that_fills_the_window_is_counted(model: ModelServer) -> None:
    async with live(None, llm_base_url=model.url, reactive_compact_enabled=False, **ANTHROPIC) as engine:
        await engine.execute("short", "t0")
        assert not model.counts
        model.enqueue(Reply([Text("ok")], usage=Usage(input=39_000, output=2)))
        await engine.execute(LONG)
        assert len(model.counts) == 1
        assert LONG.strip() in str(model.counts[0]["messages"])
        await engine.execute("and now?")
        assert len(model.counts) == 1


async def test_it_can_be_switched_off(model: ModelServer) -> None:
    settings = {**ANTHROPIC, "provider_token_counts": False, "reactive_compact_enabled": False}
    model.enqueue(Reply([Text("ok")]))
    async with live(None, llm_base_url=model.url, **settings) as engine:
        await engine.execute(LONG)
    assert not model.counts
