"""What a storage must be able to do for the protocols of teams: requests that are made and answered once, and the gates
of members.

Each change is a deed: it compares and sets with the mail and the events that tell of it in one commit. Whether an
answer counts, and whether a plan may be handed in, is decided here from the records alone.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, HitlRequest
from aster.contracts.model import Contract
from aster.contracts.team_requests import (
    ANSWERS,
    PlanGate,
    PlanReviewer,
    RequestKind,
    RequestObstacle,
    RequestStatus,
    TeamAnswer,
    TeamRequest,
)
from aster.infra.clock import iso_ms


class SubmitPlan(Contract):
    """A member hands in its plan, for somebody to say yes or no to. With a `tool_call_id` a person is asked in the
    middle of that call, in the same commit."""

    user_id: str
    task_id: str
    plan: str
    reviewer: PlanReviewer
    call_key: str = ""
    tool_call_id: str = ""


class AskPlan(Contract):
    """A member is to hand in a plan before it changes anything more."""

    user_id: str
    team_id: str
    member: str
    sender: str
    reason: str = ""
    call_key: str = ""


class AskShutdown(Contract):
    """A member is to stop when it has finished its step; one that does nothing stops at once."""

    user_id: str
    team_id: str
    member: str
    sender: str
    reason: str = ""
    call_key: str = ""


class AnswerRequest(Contract):
    """Answer a request. `asked`: a turn waits for the answer where it stands, and needs no mail to hear of it."""

    user_id: str
    team_id: str
    answer: TeamAnswer
    asked: bool = False


class AtRest(Contract):
    """The turn of a member ends: one that was asked to stop agrees to it, one whose plan is not approved waits. Stands
    before what the end of the turn itself means to the team. `completed`: nothing went wrong; `idle`: no turn ends,
    the member has none."""

    user_id: str
    task_id: str
    completed: bool = True
    idle: bool = False


RequestOrder: TypeAlias = SubmitPlan | AskPlan | AskShutdown | AnswerRequest | AtRest


class RequestDeed(Protocol):
    """A change as a deed of a unit, which has all threads of the team `beside` it; once that is committed, the request
    as it is then, if there is one."""

    @property
    def request(self) -> TeamRequest | None: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class TeamRequestStore(Protocol):
    def deed(self, order: RequestOrder) -> RequestDeed:
        """A change for the commit of somebody's unit."""
        ...

    async def do(self, order: RequestOrder, key: ThreadKey, beside: Sequence[ThreadKey]) -> TeamRequest | None:
        """Make a change now, told on this thread and those. Raises `EngineError` when it cannot be made."""
        ...

    async def request(self, user_id: str, team_id: str, request_id: str) -> TeamRequest | None: ...
    async def requests(
        self,
        user_id: str,
        team_id: str,
        *,
        limit: int,
        kind: RequestKind | None = None,
        status: RequestStatus | None = None,
        before: str | None = None,
    ) -> list[TeamRequest]:
        """Newest first."""
        ...

    async def gate(self, user_id: str, task_id: str) -> PlanGate | None:
        """How it stands with the plan of the member whose task this is, or for whom it works."""
        ...

    async def gates(self, user_id: str, team_id: str) -> list[PlanGate]: ...


def answerable(found: TeamRequest | None, answer: TeamAnswer) -> RequestObstacle | None:
    """Why an answer does not count; None if it does."""
    if found is None:
        return "unknown_request"
    if ANSWERS[found.kind] != answer.type:
        return "wrong_type"
    if found.target.casefold() != answer.responder.casefold():
        return "wrong_responder"
    if answer.recipient and answer.recipient.casefold() != found.sender.casefold():
        return "wrong_recipient"
    return None if found.status == "pending" else "already_settled"


def question(found: TeamRequest, tool_call_id: str) -> HitlRequest:
    """A plan as a person is asked about it."""
    return HitlRequest(
        request_id=found.request_id,
        kind="plan_approval",
        question=f"May {found.member} go on with this plan?\n\n{found.content}",
        tool="submit_plan",
        tool_call_id=tool_call_id,
        input={"team_id": found.team_id, "member": found.member, "item_id": found.item_id, "plan": found.content},
        options=("yes", "no"),
        reason="Nothing is changed before the plan is approved.",
        created_at=iso_ms(found.created_at),
    )


def submittable(gate: PlanGate | None) -> RequestObstacle | None:
    """Why a member cannot hand in a plan now; None if it can."""
    if gate is None:
        return "not_required"
    if gate.status == "pending":
        return "already_pending"
    return "already_approved" if gate.status == "approved" else None


_WHY: Final[dict[RequestObstacle, str]] = {
    "unknown_request": "There is no request {request} in this team.",
    "wrong_type": "{request} is a request of another kind ({kind}); it is not answered like this.",
    "wrong_responder": "{request} is for {target} to answer, not for {responder}.",
    "wrong_recipient": "{request} was made by {sender}, not by {recipient}.",
    "already_settled": "{request} is {status} already; nothing was changed.",
    "not_required": "No plan was asked of you; go on with your work.",
    "already_pending": "Your plan waits for its answer already; there can be one at a time.",
    "already_approved": "Your plan is approved for what you are at; go on with it.",
    "not_approved": "The plan is not approved.",
    "stopped": "{member} has stopped; nothing can be asked of it.",
}


def refused(reason: RequestObstacle, found: TeamRequest | None = None, **said: str) -> EngineError:
    """Why nothing was changed, as an error."""
    known = dict.fromkeys(("request", "kind", "target", "sender", "status", "responder", "recipient", "member"), "")
    if found is not None:
        known |= {
            "request": found.request_id,
            "kind": found.kind,
            "target": found.target,
            "sender": found.sender,
            "status": found.status,
            "member": found.member,
        }
    details: dict[str, Any] = {"reason": reason}
    if found is not None:
        details |= {"request_id": found.request_id, "status": found.status}
    code = ErrorCode.NOT_FOUND if reason == "unknown_request" else ErrorCode.TEAM_CONFLICT
    return EngineError(code, _WHY[reason].format(**(known | said)), details)
