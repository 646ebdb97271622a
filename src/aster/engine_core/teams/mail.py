"""Mail of a team, told to a model before its next call: each message once, in order, as what it is.

That a message was told is one commit with the words on the thread, that it was heard one with the model call that saw
it. What was told and not heard, because the engine died or the turn ended before, is looked for in the conversation: if
it stands there it is not told again.
"""

from collections.abc import Sequence

from aster.brain.teams import Heard, Seat, Told
from aster.brain.unit import Deed
from aster.contracts.messages import Message
from aster.contracts.teams import Mail
from aster.engine_core.assemble import boundary_of
from aster.engine_core.replaying.recorded import NOTICE
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.infra.ids import new_id
from aster.work.teams import words


async def tell(turn: Turn, services: Services) -> None:
    """Tell the model of mail that it has not heard, if there is any."""
    seat = turn.seat
    if seat is None:
        return
    await turn.flush()
    letters = await received(services, seat, turn)
    new = unseen(letters, turn.seen)
    if new:
        told_id, team_id = new_id(NOTICE), seat.team.team_id
        text = words.mail(new, boundary_of(turn).quote, leads=seat.leads)
        order = Told(
            user_id=turn.key.user_id,
            team_id=team_id,
            recipient=seat.name,
            seqs=tuple(one.seq for one in new),
            turn_id=turn.turn_id,
            told_id=told_id,
        )
        turn.write(told(text, told_id), deed=turn.brain.teams.deed(order))
    turn.mail = tuple(one.seq for one in letters)


async def received(services: Services, seat: Seat, turn: Turn | None) -> list[Mail]:
    """What no model call of a recipient has seen; messages of protocols are dealt with first."""
    letters = await services.brain.teams.unheard(seat.team.user_id, seat.team.team_id, seat.name)
    left: list[Mail] = []
    for one in letters:
        handler = services.teams.protocols.get(one.type)
        if handler is None or not await handler(seat, one, turn):
            left.append(one)
    return left


def unseen(letters: Sequence[Mail], seen: Sequence[Message]) -> list[Mail]:
    """Those that do not stand in a conversation."""
    ids = {message.id for message in seen}
    return [one for one in letters if not one.told_id or one.told_id not in ids]


def heard(turn: Turn) -> Deed | None:
    """Notes that the model call that ends here has seen the turn's mail, if there was any."""
    seat, seqs = turn.seat, turn.mail
    if seat is None or not seqs:
        return None
    turn.mail = ()
    order = Heard(user_id=turn.key.user_id, team_id=seat.team.team_id, recipient=seat.name, seqs=seqs)
    return turn.brain.teams.deed(order)
