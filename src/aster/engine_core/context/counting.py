"""Asking the provider how long a prompt is, when it may be too long and the estimate alone would decide.

Mostly the last call's own count is enough: only what came since is estimated. It is not after a first message that
fills the window, or a result as long as a book; then the count is asked for once, waited for briefly, and kept.
"""

from typing import Final

from aster.contracts.llm import ModelRequest
from aster.engine_core.context.tokens import Anchor, calibrated, request_tokens, window_of
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn

NEAR: Final = 0.5
"""From this share of the window on it matters how long a prompt is."""
UNSURE: Final = 0.1
"""So much of the window may be estimated."""
MOST_SECONDS: Final = 2.0


async def sharpened(turn: Turn, services: Services, request: ModelRequest) -> None:
    """See to it that the turn's count is good enough to decide by."""
    settings = services.settings
    window = window_of(request.model, settings)
    if not settings.provider_token_counts or calibrated(turn, request) < window * NEAR:
        return
    estimate, anchor = request_tokens(request), turn.anchor
    known = anchor.estimated if anchor is not None and anchor.model == request.model else 0
    if abs(estimate - known) <= window * UNSURE:
        return
    counted = await services.herald.count(request, MOST_SECONDS)
    if counted is not None:
        turn.anchor = Anchor(request.model, estimate, counted)
