"""Context events: what went into a model call, and what had to give way."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event
from aster.contracts.model import Contract


class ManifestEntry(Contract):
    """A part of a prompt, where it came from, and its estimated tokens.

    The `hash` of a part made of `messages` covers every message before it too: two calls with the same hash there had
    the same conversation up to there.
    """

    block: str
    source: str
    hash: str
    tokens: int
    messages: int = 0


class ContextManifest(Event, tag="context_manifest"):
    """What one model call was shown, in the order it was shown.

    The first `kept` entries are those of the manifest before it in the same turn, and not repeated. `total_tokens` is
    estimated; `input_tokens` is what the provider counted and `cached_tokens` what it read from its cache, both 0 for
    a call that brought no answer. `moved` is the first block that is not what it was in the call before, if one is.
    """

    step: int
    entries: tuple[ManifestEntry, ...]
    total_tokens: int
    window: int | None = None
    kept: int = 0
    model: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    moved: str | None = None
    moved_source: str | None = None


CompactionStrategy: TypeAlias = Literal[
    "tool_result_budget", "snip", "micro", "level_1", "level_2", "level_3", "summary"
]


CompactionTrigger: TypeAlias = Literal["proactive", "reactive", "requested"]


class CompactionRequested(Event, tag="compaction_requested"):
    """The conversation is to be compacted before the next model call; `focus` is what matters most in it."""

    by: Literal["model", "person"] = "person"
    focus: str | None = None


class CompactionEvent(Event, tag="compaction_event"):
    """From here on the model sees a shorter form of the conversation; the thread itself stays as it is.

    `strategies` are all rungs that were needed, `strategy` is the last of them. The view `compaction_id` takes the
    place of everything before the turn `of_turn_id` (this one if it is not named) and of its first `covers` messages.
    What was moved out of it is in `artifact_id`. `model` wrote the summary, if a model did. Without `ok` nothing has
    changed, and `reason` says why.
    """

    before_tokens: int
    after_tokens: int
    strategy: CompactionStrategy
    trigger: CompactionTrigger = "proactive"
    ok: bool = True
    artifact_id: str | None = None
    compaction_id: str | None = None
    of_turn_id: str | None = None
    covers: int = 0
    strategies: tuple[CompactionStrategy, ...] = ()
    before_messages: int = 0
    after_messages: int = 0
    model: str | None = None
    reason: str | None = None


class CacheHitRatioAlert(Event, tag="cache_hit_ratio_alert"):
    """A call read far less of its prompt from the provider's cache (`ratio`) than the call before had left there
    (`expected`). `moved_block` is the first block that had changed and `source` where it comes from; without one the
    prompt was the same and the provider did not have it. `missed_tokens` were paid for again, which cost `cost_usd`.
    """

    ratio: float
    expected: float
    moved_block: str | None = None
    source: str | None = None
    cost_usd: float | None = None
    step: int = 0
    model: str = ""
    missed_tokens: int = 0
