"""What turns know of teams beyond their own threads: who deals with the mail of protocols, and how those are woken who
may have something to do now."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from aster.brain.teams import Seat
from aster.contracts.teams import Mail, MailType

if TYPE_CHECKING:
    from aster.engine_core.turn import Turn

Handler: TypeAlias = "Callable[[Seat, Mail, Turn | None], Awaitable[bool]]"
"""Deals with a message of a protocol, for a recipient that is in a turn or rests; true when no model is to be told of
it. It marks the message as heard itself, in its own commit."""


def _nobody_rests(user_id: str, team_id: str) -> None:
    del user_id, team_id


async def _nothing_runs() -> None:
    """Until somebody runs turns, there is nothing to wait for."""


async def _nobody_stops(user_id: str, team_id: str, by: str, name: str | None = None) -> None:
    del user_id, team_id, by, name


class Teams:
    """`rouse` has begun what is to be begun in a team, by and by; `stop` stops a member, or all of them and the team;
    `close` leaves the rest to the next start."""

    def __init__(self) -> None:
        self.protocols: dict[MailType, Handler] = {}
        self.rouse: Callable[[str, str], None] = _nobody_rests
        self.close: Callable[[], Awaitable[None]] = _nothing_runs
        self.stop: Callable[..., Awaitable[None]] = _nobody_stops
