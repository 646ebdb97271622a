"""The gauge: how full the window of a model is, and how much of a conversation may stay when it is compacted.

Fullness is of what is left beside the answer. Compaction goes down to a low mark, so that it is rare: between two of
them the prompt only grows, and a provider's cache holds.
"""

from typing import Final, NamedTuple

from aster.contracts.llm import ModelRequest
from aster.engine_core.context.tokens import calibrated, request_tokens, window_of
from aster.engine_core.turn import Turn
from aster.herald.profiles import output_limit
from aster.infra.settings import Settings

LEVELS: Final = (0.60, 0.75, 0.85, 0.95)
LOW: Final = 0.45
LEAST_ROOM: Final = 0.3
"""What is left to messages at least, of the room beside instructions and tools."""
BETWEEN: Final = 0.1
"""How much of the usable window fills up at least between two compactions."""
CHARS_PER_TOKEN: Final = 2
"""How many characters of one step's results a token of the window allows: about half of it."""


class Gauge(NamedTuple):
    """`tokens` of `usable` are used, as the provider counts; `ratio` is how much more that is than our estimate."""

    tokens: int
    usable: int
    window: int
    ratio: float

    @property
    def level(self) -> int:
        """How far down the ladder a conversation this large may be taken: 0 is not at all, 4 to a summary."""
        return sum(self.tokens >= mark * self.usable for mark in LEVELS)

    def target(self, frame: int) -> int:
        """What messages may weigh after a compaction, beside a frame of so many tokens; both as we estimate."""
        usable = self.usable / max(self.ratio, 0.1)
        return round(max(LOW * usable - frame, LEAST_ROOM * max(usable - frame, 0)))

    def settled(self, tokens: int) -> int:
        """The level up to which nothing is compacted after a compaction down to so many tokens: what it could not
        get below, and what is too near. The deepest is only left out when the compaction itself ended there."""
        near = self._replace(tokens=tokens + round(BETWEEN * self.usable)).level
        return max(self._replace(tokens=tokens).level, min(near, len(LEVELS) - 1))

    def lowest(self, frame: int) -> int:
        """The same for a compaction that reaches its target, beside a frame of so many tokens, as we estimate: it
        holds before the first one of a turn, too."""
        return self.settled(round((frame + self.target(frame)) * self.ratio))

    def overflowed(self) -> "Gauge":
        """The same, known to have been too much: the estimate was that much too low."""
        return (
            self
            if self.tokens >= self.window
            else self._replace(tokens=self.window, ratio=self.ratio * self.window / max(self.tokens, 1))
        )


def gauge(turn: Turn, request: ModelRequest, settings: Settings, *, compacting: bool = False) -> Gauge:
    """How full the window is with this request; its ratio is only worked out where there is something to compact."""
    tokens = calibrated(turn, request)
    window = window_of(request.model, settings)
    answer = output_limit(request.model, request.max_tokens, request.thinking_budget)
    usable = window - min(answer, window // 2)
    if tokens < LEVELS[0] * usable and not compacting:
        return Gauge(tokens, usable, window, 1.0)
    return Gauge(tokens, usable, window, tokens / max(request_tokens(request), 1))
