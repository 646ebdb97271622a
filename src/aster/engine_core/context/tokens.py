"""How many tokens a prompt is: what the provider counted of the last call, and an estimate of what came since.

Everything is counted that is sent: instructions, tool schemas, calls, results, images, documents. Without a count of
the provider's the estimate stands alone.
"""

from typing import NamedTuple, Protocol

from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.engine_core.context.measure import measured
from aster.herald import tokens
from aster.herald.profiles import profile_of
from aster.infra.settings import Settings

_TRUSTED_RATIO = (0.5, 2.0)
"""How far a provider's count may pull an estimate of something else."""


class Anchor(NamedTuple):
    """A prompt whose tokens the provider has counted, beside what they were estimated to be."""

    model: str
    estimated: int
    counted: int


class Anchored(Protocol):
    """Whoever knows the newest count (a turn)."""

    @property
    def anchor(self) -> Anchor | None: ...


def message_tokens(message: Message) -> int:
    """The estimated tokens of a message with its frame; worked out once per message object."""
    return measured(message).tokens


def request_tokens(request: ModelRequest) -> int:
    """The estimated tokens of a whole prompt."""
    return tokens.frame_tokens(request) + sum(measured(message).tokens for message in request.messages)


def window_of(model: str, settings: Settings) -> int:
    """How many tokens prompt and answer may be together: what the model holds, or less if the operator says so."""
    window = profile_of(model).context_window
    return min(window, settings.context_window) if settings.context_window else window


def calibrated(turn: Anchored, request: ModelRequest) -> int:
    """The tokens of a prompt as the provider would count them: exact for what it counted last, close beyond."""
    estimate, anchor = request_tokens(request), turn.anchor
    if anchor is None or anchor.model != request.model or not anchor.estimated:
        return estimate
    least, most = _TRUSTED_RATIO
    ratio = min(max(anchor.counted / anchor.estimated, least), most)
    return max(0, anchor.counted + round((estimate - anchor.estimated) * ratio))
