"""The end of a member's turn: what it says to the lead, that it rests, and what becomes of its work are one commit with
the end itself, so that a crash tells all of it or nothing."""

from collections.abc import Sequence
from typing import Final

from aster.brain.records import ThreadKey
from aster.brain.teams import Ended
from aster.brain.unit import Deed
from aster.contracts.blocks import text_of
from aster.contracts.events import Phase
from aster.contracts.messages import Message
from aster.contracts.turn import TurnState
from aster.engine_core.services import Services
from aster.engine_core.teams import protocols
from aster.engine_core.turn import Turn

MOST_CHARS: Final = 20_000
SILENT: Final = "(It said nothing.)"


async def ended(
    turn: Turn, services: Services, phase: Phase, stop_reason: str, messages: Sequence[Message]
) -> tuple[Deed, Sequence[ThreadKey]] | None:
    """What is done in the commit that ends a member's turn, and on which threads it is told; None if it is none."""
    parent, brain = turn.state.request.parent, services.brain
    if parent is None or not parent.member:
        return None
    order = Ended(
        user_id=turn.key.user_id,
        task_id=turn.key.task_id,
        turn_id=turn.turn_id,
        phase=phase,
        stop_reason=stop_reason,
        said=_last_words(turn.state, messages, turn.key.task_id),
        cost_usd=turn.state.cost_usd,
    )
    before, deed = protocols.at_rest(turn, services, completed=phase is Phase.COMPLETED), brain.teams.deed(order)
    threads = await brain.teams.threads(turn.key.user_id, parent.team_id)
    return lambda db: (*before(db), *deed(db)), threads


async def given_up(
    services: Services, key: ThreadKey, turn_id: str, stop_reason: str
) -> tuple[Deed, Sequence[ThreadKey]] | None:
    """The same for a turn that cannot be read any more."""
    brain = services.brain
    seat = await brain.teams.seat(key) if "teams" in await services.uses.of(key.user_id) else None
    if seat is None or seat.leads:
        return None
    order = Ended(
        user_id=key.user_id,
        task_id=key.task_id,
        turn_id=turn_id,
        phase=Phase.ERRORED,
        stop_reason=stop_reason,
        said="The turn was given up.",
    )
    return brain.teams.deed(order), await brain.teams.threads(key.user_id, seat.team.team_id)


def _last_words(state: TurnState, messages: Sequence[Message], task_id: str) -> str:
    said = (text_of(message.content) for message in reversed(messages) if message.role == "assistant")
    text = next((text for text in said if text.strip()), "")
    if state.error:
        text = f"{state.error}. {text}".strip()
    if len(text) > MOST_CHARS:
        text = f"{text[:MOST_CHARS]}\n[cut here: the whole answer is in the task {task_id}]"
    return text or SILENT
