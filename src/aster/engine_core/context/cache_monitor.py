"""The watch over the provider's cache: what a call should have found there, and why it did not.

The call before left a known number of tokens in the cache. When the next one reads far less, somebody pays for them
again, and is told which block moved. A cache that has expired in the meantime, that was left by another model, or that
the engine itself gave up by compacting is no fault of the prompt: it is counted, and no alert is raised.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from aster.contracts.events import CacheHitRatioAlert
from aster.contracts.llm import TokenUsage
from aster.engine_core.context.manifest import HISTORY, Moved
from aster.engine_core.context.prompt import Prompt
from aster.herald.profiles import Price

LIFETIME_MS: Final = 300_000
"""How long a provider keeps a prompt for sure."""
LEAST_TOKENS: Final = 1_024
"""Nobody keeps less in a cache."""
FAR_LESS: Final = 0.5

Cause: TypeAlias = Literal["moved", "expired", "model", "compacted", "unknown"]


class Miss(NamedTuple):
    """Tokens that should have been read from the cache and were not; `expected` and `ratio` are of the whole prompt."""

    cause: Cause
    tokens: int
    expected: float
    ratio: float


def missed(
    before: Prompt | None, model: str, used: TokenUsage, moved: Moved | None, now: int, *, compacted: bool
) -> Miss | None:
    """What a call has missed; None for a first call, and where the provider tells of no cache."""
    if before is None or not used.input_total:
        return None
    promised = min(before.cached + before.written, used.input_total)
    lost = promised - used.cache_read
    if lost < LEAST_TOKENS or used.cache_read >= promised * FAR_LESS:
        return None
    cause: Cause = "unknown"
    if before.model != model:
        cause = "model"
    elif now - before.at_ms > LIFETIME_MS:
        cause = "expired"
    elif moved is not None:
        cause = "compacted" if compacted and moved.block == HISTORY else "moved"
    total = used.input_total
    return Miss(cause, lost, promised / total, used.cache_read / total)


def alert(miss: Miss, step: int, model: str, moved: Moved | None, price: Price | None) -> CacheHitRatioAlert | None:
    """The event for a miss that somebody should look into."""
    if miss.cause not in ("moved", "unknown"):
        return None
    return CacheHitRatioAlert(
        ratio=round(miss.ratio, 4),
        expected=round(miss.expected, 4),
        moved_block=moved.block if moved else None,
        source=moved.source if moved else None,
        cost_usd=None if price is None else round(_extra(miss.tokens, price), 6),
        step=step,
        model=model,
        missed_tokens=miss.tokens,
    )


def _extra(tokens: int, price: Price) -> float:
    """What reading them anew cost beyond finding them in the cache."""
    paid = max(price.input, price.cache_write)
    return tokens * max(0.0, paid - price.cache_read) / 1_000_000
