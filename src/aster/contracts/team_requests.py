"""Protocols of a team: requests that one asks of another and that are answered once, and the gate before a member's
work until its plan is approved.

A request is `pending` until it is answered or no longer means anything; each of these ends is for good. The gate is not
the request: an approval is for the work that the plan was about, and the gate closes again when that work is another.
"""

from typing import Any, Final, Literal, TypeAlias

from aster.contracts.model import Contract

RequestKind: TypeAlias = Literal["shutdown", "plan_approval"]
RequestStatus: TypeAlias = Literal["pending", "approved", "rejected", "void"]
ResponseType: TypeAlias = Literal["shutdown_response", "plan_approval_response"]
GateStatus: TypeAlias = Literal["required", "pending", "approved", "rejected"]
PlanReviewer: TypeAlias = Literal["person", "lead"]
RequestObstacle: TypeAlias = Literal[
    "unknown_request",
    "wrong_type",
    "wrong_responder",
    "wrong_recipient",
    "already_settled",
    "not_required",
    "already_pending",
    "already_approved",
    "not_approved",
    "stopped",
]
"""Why nothing was changed: there is no such request in this team; it is of another kind; it is another's to answer, or
was another's to ask; it has been answered or is void; no plan was asked for; one waits for an answer, or was approved;
the plan is not approved; the member has stopped."""

ANSWERS: Final[dict[RequestKind, ResponseType]] = {
    "shutdown": "shutdown_response",
    "plan_approval": "plan_approval_response",
}
PLAN_CHARS: Final = 20_000
FEEDBACK_CHARS: Final = 4_000


class TeamRequest(Contract):
    """A request in a team. `sender` asks it of `target`: a member's name, `lead` or `person`. `member` is whom it is
    about; `item_id` and `work_version` are what that one was at then."""

    request_id: str
    team_id: str
    kind: RequestKind
    sender: str
    target: str
    member: str
    status: RequestStatus
    content: str
    work_version: int
    created_at: int
    item_id: str | None = None
    answered_by: str | None = None
    feedback: str | None = None
    answered_at: int | None = None


class TeamAnswer(Contract):
    """An answer to a request: who says it (`responder`), to whom (`recipient`; empty is whoever asked), and as what."""

    request_id: str
    type: ResponseType
    responder: str
    approve: bool
    recipient: str = ""
    feedback: str | None = None


class PlanGate(Contract):
    """How it stands with a member's plan: the gate is open when it is `approved`. `work_version` grows whenever the
    member takes or leaves an item."""

    team_id: str
    member: str
    task_id: str
    status: GateStatus
    work_version: int
    item_id: str | None = None
    request_id: str | None = None
    feedback: str | None = None

    @property
    def closed(self) -> bool:
        return self.status != "approved"

    def details(self) -> dict[str, Any]:
        return {"plan_status": self.status, "team_id": self.team_id, "member": self.member}
