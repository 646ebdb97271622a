"""Context events: what went into a model call, and what had to give way."""

from typing import Literal, TypeAlias

from aster.contracts.events.base import Event
from aster.contracts.model import Contract


class ManifestEntry(Contract):
    block: str
    source: str
    hash: str
    tokens: int


class ContextManifest(Event, tag="context_manifest"):
    step: int
    entries: tuple[ManifestEntry, ...]
    total_tokens: int
    window: int | None = None


CompactionStrategy: TypeAlias = Literal[
    "tool_result_budget", "snip", "micro", "level_1", "level_2", "level_3", "summary"
]


class CompactionEvent(Event, tag="compaction_event"):
    before_tokens: int
    after_tokens: int
    strategy: CompactionStrategy
    trigger: Literal["proactive", "reactive", "requested"] = "proactive"
    ok: bool = True
    artifact_id: str | None = None


class CacheHitRatioAlert(Event, tag="cache_hit_ratio_alert"):
    ratio: float
    expected: float
    moved_block: str | None = None
    source: str | None = None
    cost_usd: float | None = None
