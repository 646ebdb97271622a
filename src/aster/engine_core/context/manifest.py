"""The manifest of a model call: every part of the prompt with its source, its hash and its tokens.

It grows with what is new, not with the conversation: what went before is one entry whose hash covers it all, and what a
turn's next call shares with its last is not repeated. Comparing two manifests names the first block that moved.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from aster.contracts.events import ContextManifest
from aster.contracts.events.context import ManifestEntry
from aster.contracts.llm import ModelRequest, TokenUsage
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.tools import ToolDef
from aster.engine_core.context.layers import Layer
from aster.engine_core.context.measure import Measure, fingerprint, measured
from aster.engine_core.context.prompt import Prompt
from aster.herald import tokens

HISTORY: Final = "history"
MEMORY: Final = "memory"
MESSAGE: Final = "message"
STEPS: Final = "steps"
TOOLS: Final = "tools"
TALK: Final = frozenset({HISTORY, MEMORY, MESSAGE, STEPS})
"""The conversation, which grows, and not what stands before it."""


class Parts(NamedTuple):
    """What a request was made of; of its messages the last `own` are the turn's."""

    layers: tuple[Layer, ...]
    request: ModelRequest
    own: int
    follows: str | None


class Moved(NamedTuple):
    """The first block that is not what it was, and where it comes from."""

    block: str
    source: str


def entries_of(parts: Parts) -> tuple[ManifestEntry, ...]:
    """The parts of a prompt in their order; what is not there has no entry."""
    request = parts.request
    frame = [_layer(layer.block, layer.source, layer.text) for layer in parts.layers]
    if request.tools:
        frame.append(_tools(request.tools))
    return (*frame, *_conversation(parts))


def moved_since(before: Prompt, parts: Parts, entries: Sequence[ManifestEntry]) -> Moved | None:
    """The first block of the prompt before that this one does not begin with."""
    return frame_moved(before.entries, entries) or _turned(before, parts.request.messages)


def frame_moved(before: Sequence[ManifestEntry], after: Sequence[ManifestEntry]) -> Moved | None:
    """The first block before the conversation that has changed, come or gone."""
    old = [entry for entry in before if entry.block not in TALK]
    new = [entry for entry in after if entry.block not in TALK]
    for was, now in zip_longest(old, new):
        if was is None or now is None or (was.block, was.hash) != (now.block, now.hash):
            return _first(was, now, new)
    return None


def _first(was: ManifestEntry | None, now: ManifestEntry | None, new: Sequence[ManifestEntry]) -> Moved:
    """The block to name for two that differ: the one that has gone, if it has, else the one that stands there now."""
    gone = was is not None and all(entry.block != was.block for entry in new)
    named = was if gone or now is None else now
    assert named is not None, "one of the two is there"
    return Moved(named.block, named.source)


def _turned(before: Prompt, messages: Sequence[Message]) -> Moved | None:
    """Where the conversation is not the one it was."""
    prints = [measured(message).fingerprint for message in messages]
    upto = 0
    for entry in before.entries:
        if entry.messages:
            upto += entry.messages
            if upto > len(prints) or _hash(prints[:upto]) != entry.hash:
                return Moved(entry.block, entry.source)
    return None


def manifest_of(
    parts: Parts,
    entries: tuple[ManifestEntry, ...],
    *,
    step: int,
    window: int,
    shown: tuple[ManifestEntry, ...],
    used: TokenUsage,
    moved: Moved | None,
) -> ContextManifest:
    """The event; `shown` are the entries of the manifest before it in this turn."""
    kept = next((at for at, pair in enumerate(zip(entries, shown, strict=False)) if pair[0] != pair[1]), None)
    if kept is None:
        kept = min(len(entries), len(shown))
    return ContextManifest(
        step=step,
        entries=entries[kept:],
        total_tokens=sum(entry.tokens for entry in entries),
        window=window,
        kept=kept,
        model=parts.request.model,
        input_tokens=used.input_total,
        cached_tokens=used.cache_read,
        written_tokens=used.cache_write,
        moved=moved.block if moved else None,
        moved_source=moved.source if moved else None,
    )


def _conversation(parts: Parts) -> list[ManifestEntry]:
    messages = parts.request.messages
    measures = [measured(message) for message in messages]
    prints = [measure.fingerprint for measure in measures]
    before = len(messages) - parts.own
    found: list[ManifestEntry] = []

    def add(block: str, source: str, first: int, end: int, less: int = 0) -> None:
        if end > first:
            count = _tokens(measures[first:end]) - less
            found.append(
                ManifestEntry(
                    block=block, source=source, hash=_hash(prints[:end]), tokens=count, messages=end - first
                )
            )

    add(HISTORY, f"up to {parts.follows or 'here'}", 0, before)
    opening = min(before + 1, len(messages))
    recalled = messages[before].recalled if before < len(messages) else None
    memory = 0 if recalled is None else tokens.text_tokens(recalled)
    if recalled is not None:
        digest = fingerprint(recalled.encode()).hex()
        found.append(ManifestEntry(block=MEMORY, source="memory_retrieval", hash=digest, tokens=memory))
    if before < len(messages):
        add(MESSAGE, messages[before].id or "message", before, opening, memory)
    add(STEPS, "this turn", opening, len(messages))
    return found


def _tokens(measures: Sequence[Measure]) -> int:
    return sum(measure.tokens for measure in measures)


def _hash(prints: Sequence[bytes]) -> str:
    return fingerprint(b"".join(prints)).hex()


@lru_cache(maxsize=512)
def _layer(block: str, source: str, text: str) -> ManifestEntry:
    return ManifestEntry(
        block=block, source=source, hash=fingerprint(text.encode()).hex(), tokens=tokens.text_tokens(text)
    )


def _tools(offered: tuple[ToolDef, ...]) -> ManifestEntry:
    known = _offers.get(id(offered))
    if known is None or known[0] is not offered:
        if len(_offers) >= _MOST_OFFERS:
            _offers.clear()
        entry = ManifestEntry(
            block=TOOLS,
            source=f"{len(offered)} tools",
            hash=fingerprint(encode(offered)).hex(),
            tokens=tokens.tools_tokens(offered),
        )
        known = _offers[id(offered)] = offered, entry
    return known[1]


_MOST_OFFERS: Final = 64
_offers: dict[int, tuple[tuple[ToolDef, ...], ManifestEntry]] = {}
