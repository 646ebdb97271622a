"""Families are found by the longest prefix; prices hold only for what is listed."""

import pytest

from aster.contracts.llm import TokenUsage
from aster.herald.profiles import PROFILES, UNKNOWN, Price, cost_usd, effort, output_limit, profile_of

DAY = "2026-11-15"


def test_longest_prefix_wins() -> None:
    assert profile_of("gpt-4o-mini-2024-07-18") == PROFILES["gpt-4o-mini"]
    assert profile_of("gpt-4o-2024-08-06") == PROFILES["gpt-4o"]
    assert profile_of("claude-haiku-4-5-20251001") == PROFILES["claude-haiku-4-5"]
    assert profile_of("claude-opus-5-5") == PROFILES["claude-opus-5-5"]
    assert profile_of("claude-opus-5") == PROFILES["claude-opus-5"]


def test_siblings_inherit_abilities_but_no_price() -> None:
    for model in ("gpt-5-pro", "claude-opus-5-9", "openai/gpt-4o"):
        profile = profile_of(model)
        assert profile.known, model
        assert profile.prices == (), model
    assert profile_of("claude-opus-5-9").thinking == "adaptive"


def test_unknown_models_get_careful_defaults() -> None:
    assert profile_of("qwen3:8b") is UNKNOWN
    assert profile_of("") is UNKNOWN
    assert cost_usd("qwen3:8b", TokenUsage(input=5, output=5), DAY) is None


def test_cost_of_the_four_buckets() -> None:
    usage = TokenUsage(input=1_000_000, output=100_000, cache_read=200_000, cache_write=40_000)
    assert cost_usd("claude-sonnet-4-5", usage, DAY) == pytest.approx(3 + 1.5 + 0.06 + 0.15)
    assert cost_usd("gpt-4o", TokenUsage(input=1000, output=100), DAY) == pytest.approx(0.0035)


def test_long_prompts_cost_more_as_a_whole() -> None:
    short = TokenUsage(input=100_000, output=1000)
    long = TokenUsage(input=100_000, output=1000, cache_read=1)
    assert cost_usd("claude-haiku-5-5", short, DAY) == pytest.approx(0.0105)
    assert cost_usd("claude-haiku-5-5", long, DAY) == pytest.approx(0.0525)


def test_every_profile_is_plausible() -> None:
    for model, profile in PROFILES.items():
        assert profile.max_output <= profile.context_window, model
        assert [price.since for price in profile.prices] == sorted({price.since for price in profile.prices}), model
        for price in profile.prices:
            assert price.cache_read <= price.input <= price.output, model
            assert price.cache_write >= price.input, model


def test_the_output_limit_leaves_room_for_thinking() -> None:
    assert output_limit("qwen3:8b", 4096, None) == 4096
    assert output_limit("qwen3:8b", 4096, 8192) == 12288
    assert output_limit("gpt-4o", 50_000, None) == 16_384
    assert output_limit("gpt-4o", 1000, 8192) == 1000
    assert output_limit("claude-haiku-4-5", 1000, 8192) == 9192


def test_effort() -> None:
    assert [effort(n) for n in (0, 1024, 4096, 16383, 16384)] == ["low", "low", "medium", "medium", "high"]


def test_gemini_families() -> None:
    assert profile_of("gemini-3.5-flash-lite").prices == PROFILES["gemini-3.5-flash-lite"].prices
    assert profile_of("gemini-3.9-flash").thinking == "effort"
    assert profile_of("gemini-3.9-flash").prices == ()
    pro = profile_of("gemini-2.5-pro")
    assert (pro.thinking, pro.thinking_tokens) == ("budget", (128, 32_768))
    assert cost_usd("gemini-2.5-pro", TokenUsage(input=300_000, output=1000), DAY) == pytest.approx(0.765)


@pytest.mark.parametrize(
    ("model", "last_day", "next_day", "before", "after"),
    [
        ("gemini-4-argon", "2026-11-30", "2026-12-01", 2, 4),
        ("gemini-3.6-flash", "2026-12-31", "2027-01-01", 0.75, 1.5),
        ("gemini-3.8-flash", "2026-12-31", "2027-01-01", 0.75, 1.5),
        ("gpt-5.6-sol", "2026-11-21", "2026-11-22", 4, 5),
        ("gpt-5.6", "2026-08-20", "2026-08-21", 5, 4),
    ],
)
def test_a_price_changes_on_its_day(model: str, last_day: str, next_day: str, before: float, after: float) -> None:
    usage = TokenUsage(input=100_000)
    assert cost_usd(model, usage, last_day) == pytest.approx(before / 10)
    assert cost_usd(model, usage, next_day) == pytest.approx(after / 10)


def test_before_its_first_day_a_price_is_not_known() -> None:
    later = UNKNOWN._replace(prices=(Price(1, 2, 1, 1, since="2027-01-01"),))
    assert later.price("2026-12-31") is None
    assert later.price("2027-01-01") is not None
