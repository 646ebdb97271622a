"""A turn's place in a team: looked up when it begins, and by it what its model is offered."""

from aster.brain.work import Use
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.utility_directory.places import BOARD, FREE, LEAD, MEMBER


async def begin(turn: Turn, services: Services, used: frozenset[Use]) -> None:
    """Find out where a turn that begins stands, whose user has used these."""
    request = turn.state.request
    if request.isolated or request.replay is not None or request.method:
        return
    if "teams" in used:
        turn.seat = await turn.brain.teams.seat(turn.key)
    if turn.seat is not None:
        turn.places |= {LEAD if turn.seat.leads else MEMBER, BOARD}
    elif request.parent is None and _might_lead(turn, services, used):
        turn.places |= {FREE}


def _might_lead(turn: Turn, services: Services, used: frozenset[Use]) -> bool:
    """Whether its model may propose a team."""
    offer = services.settings.team_tools
    if offer == "off" or turn.state.request.unattended:
        return False
    return offer == "on" or "work" in used
