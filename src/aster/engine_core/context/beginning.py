"""What a turn's prompts are built on, found once when it begins: the workspace's instructions, the prompt before.

A file that changes while the turn runs or waits changes nothing in it; the next turn begins with the new text.
"""

from aster.engine_core.context.foundations import Foundation
from aster.engine_core.context.skill_layers import skill_layers
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn


async def begin(turn: Turn, services: Services) -> None:
    """Give a turn what its prompts are built on."""
    state = turn.state
    found = services.foundations.find(turn.turn_id) or await _read(turn, services)
    services.foundations.keep(turn.turn_id, found)
    turn.soul, turn.notes, turn.skills = found
    if state.follows_turn_id is not None or state.model_calls:
        turn.prompt = await services.prompts.before(turn.key, state)
        turn.anchor = turn.prompt.anchor if turn.prompt is not None else None


async def _read(turn: Turn, services: Services) -> Foundation:
    notes = () if turn.state.request.isolated else await services.root_notes.layers(*turn.ground)
    return Foundation(turn.soul, notes, await skill_layers(turn, services))
