"""What tools see of the protocols of a team: requests as the agent that calls may make and answer them. Which team that
is and who calls is settled by the engine, never by the call."""

from typing import Any, Final, Protocol

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.team_requests import FEEDBACK_CHARS, TeamRequest

MEMBER: Final[dict[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 64,
    "description": "The member's name.",
}


def words(description: str) -> dict[str, Any]:
    """The schema of what is said with a request or an answer."""
    return {"type": "string", "maxLength": FEEDBACK_CHARS, "description": description}


class TeamProtocols(Protocol):
    """Raises `EngineError` when a request cannot be made or answered; nothing is changed then."""

    async def submit_plan(self, plan: str, *, asking: str = "") -> TeamRequest:
        """Hand in a plan; the same call made again says how it stands with it. A person who reviews it is asked in the
        middle of the call `asking`, if that is given."""
        ...

    async def review_plan(
        self, request_id: str, member: str, approve: bool, feedback: str | None
    ) -> TeamRequest: ...
    async def request_plan(self, member: str, reason: str) -> None: ...
    async def request_shutdown(self, member: str, reason: str) -> TeamRequest: ...


def protocols(offered: TeamProtocols | None) -> TeamProtocols:
    if offered is None:
        raise EngineError(ErrorCode.TEAM_CONFLICT, "You are in no team.", {"reason": "no_team"})
    return offered
