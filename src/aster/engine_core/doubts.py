"""What an `uncertainty` event means for a turn; part of the fold. What is settled once stays settled."""

from typing import Final

from aster.contracts.events import RiskSummary, Uncertainty
from aster.contracts.turn import Doubt, TurnState

WEIGHTY: Final = 4


def noted(state: TurnState, event: Uncertainty | RiskSummary) -> None:
    if isinstance(event, RiskSummary):
        state.summarised = True
        return
    known = state.doubts.get(event.item_id)
    state.doubts[event.item_id] = Doubt(
        item=event.item,
        text=event.text,
        impact=event.impact,
        confidence=event.confidence,
        resolution=event.resolution,
        resolved=event.resolved or (known is not None and known.resolved),
    )


def to_ask(state: TurnState) -> dict[str, Doubt]:
    """What a person should be asked before anything is changed, the weightiest first."""
    found = [
        (item_id, doubt)
        for item_id, doubt in state.doubts.items()
        if _weighty(doubt) and doubt.item == "unknown" and doubt.resolution == "ask_user"
    ]
    return dict(sorted(found, key=lambda pair: -pair[1].impact))


def weighty(state: TurnState) -> dict[str, Doubt]:
    """What of weight is unsettled."""
    return {item_id: doubt for item_id, doubt in state.doubts.items() if _weighty(doubt)}


def _weighty(doubt: Doubt) -> bool:
    return not doubt.resolved and doubt.impact >= WEIGHTY
