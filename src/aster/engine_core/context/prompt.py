"""The newest prompt of a task that a provider answered: what it was made of, and what the provider said of it.

It is what the next prompt is compared with: for its tokens, for the part of it that should still be in the provider's
cache, and for the first block that moved. It is kept in memory, and read from the thread after a restart.
"""

from collections import OrderedDict
from datetime import datetime
from typing import Final, NamedTuple

from msgspec.structs import replace

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.events import ContextManifest, decode_event
from aster.contracts.events.context import ManifestEntry
from aster.contracts.turn import TurnState
from aster.engine_core.context.tokens import Anchor

MOST_TASKS: Final = 2_000


class Prompt(NamedTuple):
    """`estimated` and `counted` are tokens; `cached` of them were read from the cache, `written` were put there."""

    turn_id: str
    model: str
    entries: tuple[ManifestEntry, ...]
    estimated: int
    counted: int
    cached: int
    written: int
    at_ms: int

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.model, self.estimated, self.counted)

    @property
    def messages(self) -> int:
        return sum(entry.messages for entry in self.entries)


class Prompts:
    """The newest prompts of the tasks that were active last."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._known: OrderedDict[ThreadKey, Prompt] = OrderedDict()

    def keep(self, key: ThreadKey, prompt: Prompt) -> None:
        self._known[key] = prompt
        self._known.move_to_end(key)
        if len(self._known) > MOST_TASKS:
            self._known.popitem(last=False)

    def forget(self, key: ThreadKey) -> None:
        """The task goes on elsewhere."""
        self._known.pop(key, None)

    def clear(self) -> None:
        self._known.clear()

    async def before(self, key: ThreadKey, state: TurnState) -> Prompt | None:
        """The prompt that the next one of this turn goes on from: of the same turn, or of the whole turn before."""
        whole = state.follows_turn_id if state.follows_messages is None else None
        lineage = [turn_id for turn_id in (state.turn_id if state.model_calls else None, whole) if turn_id]
        known = self._known.get(key)
        if known is not None and known.turn_id in lineage:
            return known
        for turn_id in lineage:
            if (found := await self._read(key, turn_id)) is not None:
                return found
        return None

    async def _read(self, key: ThreadKey, turn_id: str) -> Prompt | None:
        manifests = [
            event
            for data in await self._brain.manifests(key, turn_id=turn_id)
            if isinstance(event := decode_event(data), ContextManifest)
        ]
        answered = [whole for whole in unfolded(manifests) if whole.input_tokens]
        return None if not answered else prompt_of(answered[-1], turn_id)


def unfolded(manifests: list[ContextManifest]) -> list[ContextManifest]:
    """The manifests, each with all its entries; they are in order and whole turns."""
    whole: list[ContextManifest] = []
    for manifest in manifests:
        before = whole[-1] if whole and whole[-1].turn_id == manifest.turn_id else None
        kept = before.entries[: manifest.kept] if before is not None else ()
        whole.append(replace(manifest, entries=(*kept, *manifest.entries), kept=0))
    return whole


def prompt_of(manifest: ContextManifest, turn_id: str) -> Prompt:
    return Prompt(
        turn_id=turn_id,
        model=manifest.model,
        entries=manifest.entries,
        estimated=manifest.total_tokens,
        counted=manifest.input_tokens,
        cached=manifest.cached_tokens,
        written=manifest.written_tokens,
        at_ms=round(datetime.fromisoformat(manifest.timestamp).timestamp() * 1000),
    )
