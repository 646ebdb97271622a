"""What tools see of teams: a team as the agent that calls may have it. Which one that is, who calls and on whose
threads it is told is settled by the engine, never by the call."""

from collections.abc import Sequence
from typing import Protocol

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest
from aster.contracts.teams import Mail, MemberDraft, Team, TeamMember


class Proposal(Protocol):
    """A team that is to be made, or members that are to join one; all that can be checked was."""

    @property
    def request(self) -> HitlRequest:
        """What the person is asked."""
        ...

    async def made(self) -> Sequence[TeamMember]:
        """Whom this very call has made before."""
        ...

    async def spawn(self) -> Sequence[TeamMember]:
        """Make them, with their first work claimed; all of them or none."""
        ...


class TeamRoom(Protocol):
    """Raises `EngineError` when something cannot be done; nothing is changed then."""

    async def propose(
        self, members: Sequence[MemberDraft], name: str | None, board: str | None, budget_usd: float | None
    ) -> Proposal: ...
    async def send(self, to: str, content: str) -> Sequence[Mail]: ...
    async def overview(self) -> tuple[Team, Sequence[tuple[TeamMember, str]]]:
        """The team, and its members with what each is at."""
        ...


def room(offered: TeamRoom | None) -> TeamRoom:
    """The room, for a tool that cannot do without."""
    if offered is None:
        raise EngineError(ErrorCode.TEAM_CONFLICT, "There are no teams here.", {"reason": "no_team"})
    return offered
