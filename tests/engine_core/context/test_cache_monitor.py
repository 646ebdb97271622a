"""The watch over the provider's cache: an alert names the block that moved, its source and what it cost; what is
nobody's fault raises none."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.llm import TokenUsage
from aster.engine_core.context.cache_monitor import LIFETIME_MS, Cause, alert, missed
from aster.engine_core.context.manifest import Moved
from aster.engine_core.context.prompt import Prompt
from aster.herald.profiles import Price
from aster.testing import ModelServer, Reply, Text, Usage
from tests.engine_core.frames import events
from tests.engine_core.test_observations import noted
from tests.live import Live, live

ANTHROPIC = {"llm_provider": "anthropic", "llm_model": "claude-sonnet-4-5"}
WARM = (
    Usage(input=50, output=5, cache_write=10_000),
    Usage(input=50, output=5, cache_read=10_000, cache_write=200),
)
COLD = Usage(input=50, output=5, cache_write=10_400)
FAMILY = Price(3, 15, 0.3, 3.75)


def before(cached: int = 0, written: int = 10_000, model: str = "m") -> Prompt:
    return Prompt("turn-1", model, (), 9_000, 10_050, cached, written, at_ms=1_000_000)


@pytest.mark.parametrize(
    ("used", "moved", "now", "compacted", "cause"),
    [
        (TokenUsage(input=50, cache_read=10_000), Moved("soul", "memory"), 1_000_001, False, None),
        (TokenUsage(input=10_500), Moved("soul", "memory"), 1_000_001, False, "moved"),
        (TokenUsage(input=10_500), None, 1_000_001, False, "unknown"),
        (TokenUsage(input=10_500), None, 1_000_001 + LIFETIME_MS, False, "expired"),
        (TokenUsage(input=10_500), Moved("soul", "memory"), 1_000_001 + LIFETIME_MS, False, "expired"),
        (TokenUsage(input=10_500), Moved("history", "x"), 1_000_001, True, "compacted"),
        (TokenUsage(input=10_500), Moved("system", "x"), 1_000_001, True, "moved"),
        (TokenUsage(input=4_000, cache_read=6_500), Moved("soul", "memory"), 1_000_001, False, None),
        (TokenUsage(), Moved("soul", "memory"), 1_000_001, False, None),
    ],
)
def test_a_miss_has_a_cause(
    used: TokenUsage, moved: Moved | None, now: int, compacted: bool, cause: Cause | None
) -> None:
    miss = missed(before(), "m", used, moved, now, compacted=compacted)
    assert (miss.cause if miss else None) == cause


def test_no_miss_without_a_call_before_or_a_cache() -> None:
    used = TokenUsage(input=10_500)
    assert missed(None, "m", used, None, 0, compacted=False) is None
    assert missed(before(written=0), "m", used, Moved("soul", "memory"), 0, compacted=False) is None
    assert missed(before(written=900), "m", used, Moved("soul", "memory"), 0, compacted=False) is None
    miss = missed(before(model="other"), "m", used, Moved("soul", "memory"), 0, compacted=False)
    assert miss is not None
    assert miss.cause == "model"
    assert alert(miss, 1, "m", None, FAMILY) is None


def test_an_alert_says_what_the_miss_cost() -> None:
    miss = missed(before(), "m", TokenUsage(cache_write=10_500), Moved("soul", "memory"), 0, compacted=False)
    assert miss is not None
    told = alert(miss, 3, "m", Moved("soul", "memory"), FAMILY)
    assert told is not None
    assert (told.moved_block, told.source, told.missed_tokens) == ("soul", "memory", 10_000)
    assert told.cost_usd == pytest.approx(10_000 * (3.75 - 0.3) / 1_000_000)
    free = alert(miss, 3, "m", None, None)
    assert free is not None
    assert free.cost_usd is None


async def talk(engine: Live, model: ModelServer, *usages: Usage) -> list[dict[str, Any]]:
    """A turn for each of these; the alerts they raised."""
    raised: list[dict[str, Any]] = []
    for usage in usages:
        model.enqueue(Reply([Text("ok")], usage=usage))
        raised += events(await engine.execute("go on"), "cache_hit_ratio_alert")
    return raised


async def test_over_http_a_changed_file_is_named_with_its_cost_and_noted(
    model: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("Use tabs.")
    settings = {**ANTHROPIC, "llm_base_url": model.url, "allowed_roots": str(tmp_path)}
    async with live(None, **settings) as engine:
        assert not await talk(engine, model, *WARM)
        file.write_text("Use spaces.")
        [told] = await talk(engine, model, COLD)
        row = await noted(engine.engine.brain, "default", "cache_hit_ratio_alert")
        metrics = (await engine.http.get("/metrics")).text
    assert (told["moved_block"], told["source"]) == ("instructions", str(file))
    assert (told["ratio"], told["missed_tokens"]) == (0.0, 10_200)
    assert told["expected"] == pytest.approx(10_200 / 10_450, abs=0.001)
    assert told["cost_usd"] == pytest.approx(10_200 * (3.75 - 0.3) / 1_000_000)
    assert "`instructions` has changed" in row.message
    assert 'aster_cache_misses_total{cause="moved"} 1.0' in metrics
    assert 'aster_cache_missed_tokens_total{cause="moved"} 10200.0' in metrics


async def test_over_http_a_restart_with_another_prompt_is_named(model: ModelServer, tmp_path: Path) -> None:
    settings = {**ANTHROPIC, "llm_base_url": model.url, "sqlite_db_path": tmp_path / "brain.sqlite"}
    async with live(None, system_prompt="One.", **settings) as engine:
        assert not await talk(engine, model, *WARM)
    async with live(None, system_prompt="Two.", **settings) as engine:
        [told] = await talk(engine, model, COLD)
    assert (told["moved_block"], told["source"]) == ("system", "operator")


async def test_over_http_what_is_nobodys_fault_raises_no_alert(model: ModelServer) -> None:
    time = [1_793_000_000_000]
    async with live(None, now=lambda: time[0], llm_base_url=model.url, **ANTHROPIC) as engine:
        assert not await talk(engine, model, *WARM)
        time[0] += LIFETIME_MS + 1
        assert not await talk(engine, model, COLD)
        assert 'aster_cache_misses_total{cause="expired"} 1.0' in (await engine.http.get("/metrics")).text
    async with live(None, llm_base_url=model.url, **ANTHROPIC) as engine:
        assert not await talk(engine, model, Usage(input=9_000, output=1), Usage(input=9_100, output=1))


async def test_over_http_it_can_be_switched_off(model: ModelServer) -> None:
    async with live(None, llm_base_url=model.url, cache_hit_monitor_enabled=False, **ANTHROPIC) as engine:
        assert not await talk(engine, model, *WARM, COLD)
    async with live(None, llm_base_url=model.url, **ANTHROPIC) as engine:
        [told] = await talk(engine, model, *WARM, COLD)
        assert "moved_block" not in told
