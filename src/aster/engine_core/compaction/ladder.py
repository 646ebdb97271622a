"""The ladder: which rungs a conversation has to be taken down, in an order that is a contract.

Snip, micro and the levels need no model; each is tried only if those before it did not free enough. Detail is in the
transcript before any of them runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aster.contracts.events.context import CompactionStrategy
from aster.contracts.messages import Digest, Message
from aster.engine_core.boundary import Boundary
from aster.engine_core.compaction import digest as digests
from aster.engine_core.compaction.levels import clipped, shortened
from aster.engine_core.compaction.micro import micro
from aster.engine_core.compaction.shape import Weigh
from aster.engine_core.compaction.snip import head_end, snipped
from aster.engine_core.compaction.summary import Split, split
from aster.infra.ids import new_id

LARGEST_OPENING: Final = 0.4
"""How much of the room for messages the opening may take, word for word."""
_LEVELS: Final[tuple[CompactionStrategy, ...]] = ("level_1", "level_2", "level_3")


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and how much of it may stay: `target` tokens of messages. `active` are the ids of what the
    person said in the present turn."""

    messages: list[Message]
    digest: Digest
    active: frozenset[str]
    target: int
    weigh: Weigh
    boundary: Boundary

    def weight(self, messages: Sequence[Message]) -> int:
        return sum(map(self.weigh, messages))

    def fits(self, messages: Sequence[Message]) -> bool:
        return self.weight(messages) <= self.target


@dataclass(frozen=True, slots=True)
class Taken:
    """A conversation some rungs down."""

    messages: list[Message]
    strategies: tuple[CompactionStrategy, ...] = ()
    fits: bool = False


def descend(case: Case, level: int) -> Taken:
    """As far down as needed, at most to this level, without a model."""
    present = next((at for at, item in enumerate(case.messages) if item.id in case.active), len(case.messages))
    kept, gone = snipped(case.messages, present, case.weigh, case.target)
    used: list[CompactionStrategy] = ["snip"] if gone else []
    note = digests.message(digests.grown(case.digest, gone), case.boundary, new_id("msg"))
    spared = frozenset(case.active | {case.messages[0].id or ""})
    messages = _noted(kept, note)
    rungs: list[tuple[CompactionStrategy, int]] = [
        ("micro", 0),
        *((name, at) for at, name in enumerate(_LEVELS, 1)),
    ]
    for name, at in rungs[: level + 1]:
        if case.fits(messages):
            break
        before = messages
        messages = micro(messages) if at == 0 else shortened(messages, at, spared)
        if any(new is not old for new, old in zip(messages, before, strict=True)):
            used.append(name)
    return Taken(messages, tuple(used), case.fits(messages))


def parted(case: Case) -> Split:
    """The conversation as the last rung takes it apart. An opening that fills the room is shortened and summarised."""
    parts = split(case.messages, case.active, case.fits)
    if not parts.head or case.weigh(parts.head[0]) <= case.target * LARGEST_OPENING:
        return parts
    opening = parts.head[0]
    if opening.id in case.active:
        return parts
    return Split([clipped(opening)], [opening, *parts.gone], parts.tail)


def summarised(case: Case, parts: Split, text: str) -> list[Message]:
    """What is shown once these parts are a summary."""
    note = digests.message(digests.grown(case.digest, parts.gone, text), case.boundary, new_id("msg"))
    return [*parts.head, note, *parts.tail]


def _noted(messages: Sequence[Message], note: Message) -> list[Message]:
    """The messages with the digest behind their opening, in the place of the one before."""
    at = head_end(messages)
    return [*digests.without(messages[:at]), note, *messages[at:]]
