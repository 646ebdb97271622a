"""Facts about model families: how much they hold, what they cost, what they can do.

This is data with a date, looked up by the longest prefix of the model's name. A price that changes is several
lines, each valid from a day on; a change that was announced is therefore known before it comes. A model nobody
listed gets careful defaults and no price: an unknown cost is said to be unknown, never guessed.
"""

import re
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from aster.contracts.llm import TokenUsage

Thinking: TypeAlias = Literal["none", "budget", "adaptive", "effort"]
"""How thinking is asked for: not at all, by a token budget, by effort with the model deciding, by effort alone."""


class Price(NamedTuple):
    """USD per million tokens in the four buckets; a prompt over `long_from` tokens costs `long_*` times as much.

    `since` is the day (UTC, `2026-12-01`) it holds from; empty is from ever.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    long_from: int | None = None
    long_input: float = 1.0
    long_output: float = 1.0
    since: str = ""

    def of(self, usage: TokenUsage) -> float:
        long = self.long_from is not None and usage.input_total > self.long_from
        prompt = (
            usage.input * self.input + usage.cache_read * self.cache_read + usage.cache_write * self.cache_write
        )
        answer = usage.output * self.output
        return (prompt * (self.long_input if long else 1) + answer * (self.long_output if long else 1)) / 1_000_000


class Profile(NamedTuple):
    """One family. `prices` stand in the order of their days. `sampling`: it takes temperature and top_p.
    `effort_with_tools`: it thinks beside tools in Chat Completions (those that do not must be told to think not at
    all when tools are offered). `thinking_tokens`: the least and the most it takes as a thinking budget."""

    context_window: int
    max_output: int
    prices: tuple[Price, ...] = ()
    thinking: Thinking = "none"
    sampling: bool = True
    vision: bool = True
    pdf: bool = True
    effort_with_tools: bool = True
    known: bool = True
    thinking_tokens: tuple[int, int] | None = None
    audio: bool = False
    video: bool = False

    def price(self, day: str) -> Price | None:
        """What holds on a day; None when that is not known."""
        return next((price for price in reversed(self.prices) if price.since <= day), None)


UNKNOWN = Profile(32_768, 4_096, vision=False, pdf=False, known=False)


def _claude(*prices: Price, output: int = 128_000, sampling: bool = False) -> Profile:
    return Profile(1_000_000, output, prices, "adaptive", sampling)


def _claude_45(price: Price) -> Profile:
    return Profile(200_000, 64_000, (price,), "budget")


def _gpt(*prices: Price, window: int = 400_000, chat_thinks: bool = True) -> Profile:
    return Profile(window, 128_000, prices, "effort", sampling=False, effort_with_tools=chat_thinks)


def _gpt_long(*prices: Price) -> Profile:
    long = (price._replace(long_from=272_000, long_input=2.0, long_output=1.5) for price in prices)
    return _gpt(*long, window=1_050_000, chat_thinks=False)


def _gemini(*prices: Price) -> Profile:
    return Profile(1_048_576, 65_536, prices, "effort", audio=True, video=True)


def _gemini_25(price: Price, least: int = 0, most: int = 24_576) -> Profile:
    return Profile(1_048_576, 65_536, (price,), "budget", thinking_tokens=(least, most), audio=True, video=True)


def _local(window: int) -> Profile:
    return Profile(window, 2_048, (Price(0, 0, 0, 0),), vision=False, pdf=False)


_SOL = (
    Price(5, 30, 0.5, 6.25),
    Price(4, 20, 0.4, 5, since="2026-08-21"),
    Price(5, 30, 0.5, 6.25, since="2026-11-22"),
)
"""The list price, but for a promotion; that it ends on its first announced day errs on the dear side."""

_FLASH = (Price(0.75, 3.75, 0.075, 0.75), Price(1.5, 7.5, 0.15, 1.5, since="2027-01-01"))

PROFILES: dict[str, Profile] = {
    "claude-fable-5": _claude(Price(10, 50, 1, 12.5)),
    "claude-fable-5-1": _claude(Price(10, 50, 1, 12.5)),
    "claude-mythos": _claude(),
    "claude-opus-5-5": _claude(Price(4, 20, 0.4, 5)),
    "claude-opus-5": _claude(Price(5, 25, 0.5, 6.25)),
    "claude-opus-4-8": _claude(Price(5, 25, 0.5, 6.25)),
    "claude-opus-4-7": _claude(Price(5, 25, 0.5, 6.25)),
    "claude-opus-4-6": _claude(Price(5, 25, 0.5, 6.25), sampling=True),
    "claude-opus-4-5": _claude_45(Price(5, 25, 0.5, 6.25)),
    "claude-sonnet-5-5": _claude(Price(2, 10, 0.2, 2.5)),
    "claude-sonnet-5": _claude(Price(2, 10, 0.2, 2.5)),
    "claude-sonnet-4-6": _claude(Price(3, 15, 0.3, 3.75), output=64_000, sampling=True),
    "claude-sonnet-4-5": _claude_45(Price(3, 15, 0.3, 3.75)),
    "claude-haiku-5-5": _claude(Price(0.1, 0.5, 0.01, 0.125, 100_000, 5.0, 5.0)),
    "claude-haiku-4-5": _claude_45(Price(1, 5, 0.1, 1.25)),
    "gpt-6-astra": _gpt_long(Price(10, 50, 1, 12.5)),
    "gpt-6.1-sol": _gpt_long(Price(2, 10, 0.1, 2.5)),
    "gpt-6.1-terra": _gpt_long(Price(1, 5, 0.05, 1.25)),
    "gpt-6-sol": _gpt_long(Price(2, 10, 0.2, 2.5)),
    "gpt-6-luna": _gpt_long(Price(0.1, 0.5, 0.01, 0.125)),
    "gpt-5.6": _gpt_long(*_SOL),
    "gpt-5.6-sol": _gpt_long(*_SOL),
    "gpt-5.6-terra": _gpt_long(Price(2, 12, 0.2, 2.5)),
    "gpt-5.6-luna": _gpt_long(Price(0.2, 1.2, 0.02, 0.25)),
    "gpt-5.5": _gpt_long(Price(5, 30, 0.5, 5)),
    "gpt-5.4": _gpt_long(Price(2.5, 15, 0.25, 2.5)),
    "gpt-5.4-mini": _gpt(Price(0.75, 4.5, 0.075, 0.75), chat_thinks=False),
    "gpt-5.2": _gpt(Price(1.75, 14, 0.175, 1.75)),
    "gpt-5.1": _gpt(Price(1.25, 10, 0.125, 1.25)),
    "gpt-5": _gpt(Price(1.25, 10, 0.125, 1.25)),
    "gpt-5-mini": _gpt(Price(0.25, 2, 0.025, 0.25)),
    "gpt-5-nano": _gpt(Price(0.05, 0.4, 0.005, 0.05)),
    "gpt-4.1": Profile(1_047_576, 32_768, (Price(2, 8, 0.5, 2),)),
    "gpt-4.1-mini": Profile(1_047_576, 32_768, (Price(0.4, 1.6, 0.1, 0.4),)),
    "gpt-4.1-nano": Profile(1_047_576, 32_768, (Price(0.1, 0.4, 0.025, 0.1),)),
    "gpt-4o": Profile(128_000, 16_384, (Price(2.5, 10, 1.25, 2.5),)),
    "gpt-4o-mini": Profile(128_000, 16_384, (Price(0.15, 0.6, 0.075, 0.15),)),
    "gpt-4o-audio-preview": Profile(128_000, 16_384, vision=False, pdf=False, audio=True),
    "gpt-audio": Profile(128_000, 16_384, vision=False, pdf=False, audio=True),
    "o4-mini": Profile(200_000, 100_000, (Price(1.1, 4.4, 0.275, 1.1),), "effort", sampling=False),
    "o3-mini": Profile(200_000, 100_000, (Price(1.1, 4.4, 0.55, 1.1),), "effort", sampling=False, vision=False),
    "o3": Profile(200_000, 100_000, (Price(2, 8, 0.5, 2),), "effort", sampling=False),
    "gemini-4-argon": _gemini(Price(2, 10, 0.1, 2), Price(4, 20, 0.2, 4, since="2026-12-01")),
    "gemini-4": _gemini(),
    "gemini-3.8-flash": _gemini(*_FLASH),
    "gemini-3.7-flash": _gemini(*_FLASH),
    "gemini-3.6-flash": _gemini(*_FLASH),
    "gemini-3.5-flash": _gemini(Price(1.5, 9, 0.15, 1.5)),
    "gemini-3.5-flash-lite": _gemini(Price(0.3, 2.5, 0.03, 0.3)),
    "gemini-3.1-pro-preview": _gemini(Price(2, 12, 0.2, 2, 200_000, 2.0, 1.5)),
    "gemini-3.1-flash-lite": _gemini(Price(0.25, 1.5, 0.025, 0.25)),
    "gemini-3-flash-preview": _gemini(Price(0.5, 3, 0.05, 0.5)),
    "gemini-3": _gemini(),
    "gemini-flash-latest": _gemini(),
    "gemini-pro-latest": _gemini(),
    "gemini-2.5-pro": _gemini_25(Price(1.25, 10, 0.125, 1.25, 200_000, 2.0, 1.5), 128, 32_768),
    "gemini-2.5-flash": _gemini_25(Price(0.3, 2.5, 0.03, 0.3)),
    "gemini-2.5-flash-lite": _gemini_25(Price(0.1, 0.4, 0.01, 0.1)),
    "local": _local(16_384),
    "local/qwen2.5-coder-1.5b": _local(32_768),
    "local/smollm2-135m": _local(8_192),
}
_SNAPSHOT = re.compile(r"(-latest|[-@]\d{4}-?\d\d-?\d\d)?")


_families = dict(PROFILES)


def use(families: dict[str, Profile]) -> None:
    """Look models up in these families from now on; there is one table for the whole process."""
    _families.clear()
    _families.update(families)
    profile_of.cache_clear()


@cache
def profile_of(model: str) -> Profile:
    """The family whose name is the longest prefix of the model's (with or without a gateway's `vendor/`).

    Abilities are inherited by names that only begin alike (a sibling, the next version); a price is not, it
    holds for the listed name and its dated snapshots.
    """
    plain = model.rpartition("/")[2]
    fitting = (name for name in _families if model.startswith(name) or plain.startswith(name))
    family = max(fitting, key=len, default=None)
    if family is None:
        return UNKNOWN
    listed = model.startswith(family) and _SNAPSHOT.fullmatch(model[len(family) :])
    return _families[family] if listed else _families[family]._replace(prices=())


def cost_usd(model: str, usage: TokenUsage, day: str) -> float | None:
    """What a call of this day (UTC) cost, or None when the model's price is not known."""
    price = profile_of(model).price(day)
    return price.of(usage) if price is not None else None


def output_limit(model: str, max_tokens: int, thinking_budget: int | None) -> int:
    """The output tokens to ask for: thinking comes on top of the answer, and a known family has a ceiling."""
    profile = profile_of(model)
    if not profile.known:
        return max_tokens + (thinking_budget or 0)
    thinks = profile.thinking != "none"
    return min(max_tokens + (thinking_budget or 0) * thinks, profile.max_output)


def effort(thinking_budget: int) -> Literal["low", "medium", "high"]:
    """A thinking budget in tokens, as models that think by effort understand it."""
    if thinking_budget < 4096:
        return "low"
    return "medium" if thinking_budget < 16384 else "high"
