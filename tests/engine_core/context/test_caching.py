"""Marks for the provider's cache over HTTP, against a server that caches the way Anthropic does: by marks and bytes."""

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import live

ANTHROPIC = {"llm_provider": "anthropic", "llm_model": "claude-sonnet-4-5"}
MANY = [ToolCall("glob", {"pattern": f"*.{number}"}) for number in range(24)]


@pytest.fixture
async def caching() -> AsyncIterator[ModelServer]:
    async with ModelServer(prompt_cache=True) as server:
        yield server


def used(frames: list[Any]) -> list[tuple[int, int]]:
    """Of each call, the tokens of its prompt and those that came from the cache."""
    return [(usage["input_tokens"], usage.get("cache_hit_tokens", 0)) for usage in events(frames, "usage")]


async def test_every_call_reads_all_of_the_prompt_before_from_the_cache(caching: ModelServer) -> None:
    async with live(None, llm_base_url=caching.url, time_zone="UTC", **ANTHROPIC) as engine:
        calls = used(await engine.execute('[[tools=5 tool=glob input={"pattern":"*"} text=5]]'))
        for number in range(3):
            frames = await engine.execute(f"[[text=20 id={number}]]")
            calls += used(frames)
            assert not events(frames, "cache_hit_ratio_alert")
    assert len(calls) == 9
    for (before, _), (_, read) in pairwise(calls):
        assert read >= before - 10


async def test_a_step_of_many_calls_does_not_lose_the_cache(caching: ModelServer) -> None:
    caching.enqueue(Reply(MANY), Reply([Text("Nothing there.")]))
    async with live(None, llm_base_url=caching.url, **ANTHROPIC) as engine:
        first, second = used(await engine.execute("look everywhere " * 500))
    assert second[1] >= first[0] - 10


async def test_conversations_share_what_is_the_same_for_all(caching: ModelServer) -> None:
    async with live(None, llm_base_url=caching.url, system_prompt="Be kind. " * 500, **ANTHROPIC) as engine:
        await engine.execute("one", "t1")
        [(total, read)] = used(await engine.execute("two", "t2"))
    assert read > total * 0.9


async def test_without_marks_nothing_is_cached(caching: ModelServer) -> None:
    async with live(None, llm_base_url=caching.url, cached_snip=False, **ANTHROPIC) as engine:
        await engine.execute("one")
        assert [read for _, read in used(await engine.execute("two"))] == [0]
    assert all("cache_control" not in str(call.body) for call in caching.calls)
