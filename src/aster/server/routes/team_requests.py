"""The protocols of teams: what members were asked and have asked, their plans, and what a person says to them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.contracts.team_requests import (
    FEEDBACK_CHARS,
    GateStatus,
    PlanGate,
    RequestKind,
    RequestStatus,
    ResponseType,
    TeamRequest,
)
from aster.engine_core.engine import Engine
from aster.engine_core.teams import protocols
from aster.infra.clock import iso_ms
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/teams", tags=["work"], dependencies=KEYED)

TeamId = Annotated[str, Path(max_length=128, description="The team's id.")]
RequestId = Annotated[str, Path(max_length=128, description="The request's id.")]
Member = Annotated[str, Path(max_length=64, description="The member's name.")]
Limit = Annotated[int, Query(ge=1, le=200)]
ASKED = (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
CHANGED = refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.TEAM_CONFLICT)


class TeamAnswerBody(Part):
    approve: bool = Field(description="Yes or no.")
    feedback: Text | None = Field(None, max_length=FEEDBACK_CHARS, description="What the member should know.")
    type: ResponseType = Field(
        "plan_approval_response", description="What the answer is; it has to fit what was asked."
    )
    member: Text = Field("", max_length=64, description="Who asked; given, it has to be that one.")


class AskMemberBody(Part):
    reason: Text = Field("", max_length=FEEDBACK_CHARS, description="Why; the member is told.")


class TeamRequestAnswer(BaseModel):
    """A request in a team: `sender` asks it of `target`, about `member`."""

    request_id: str
    team_id: str
    kind: RequestKind
    sender: str
    target: str
    member: str
    status: RequestStatus
    content: str = Field(description="The plan, or why somebody is to stop.")
    work_version: int = Field(description="The member's work as the plan was for it.")
    created_at: str
    item_id: str | None = Field(None, description="What the member was at.")
    answered_by: str | None = None
    feedback: str | None = None
    answered_at: str | None = None

    @classmethod
    def of(cls, found: TeamRequest) -> "TeamRequestAnswer":
        return cls(
            request_id=found.request_id,
            team_id=found.team_id,
            kind=found.kind,
            sender=found.sender,
            target=found.target,
            member=found.member,
            status=found.status,
            content=found.content,
            work_version=found.work_version,
            created_at=iso_ms(found.created_at),
            item_id=found.item_id,
            answered_by=found.answered_by,
            feedback=found.feedback,
            answered_at=None if found.answered_at is None else iso_ms(found.answered_at),
        )


class TeamRequestPage(BaseModel):
    requests: list[TeamRequestAnswer]
    next: str | None = Field(None, description="Give it as `before` for the next page.")


class TeamPlanAnswer(BaseModel):
    """How it stands with a member's plan: while it is not `approved` the member changes nothing."""

    member: str
    status: GateStatus
    work_version: int = Field(
        description="Grows whenever the member takes or leaves work; plans are for one of them."
    )
    item_id: str | None = Field(None, description="What the plan is for.")
    request_id: str | None = Field(None, description="The request that handed it in.")
    feedback: str | None = None

    @classmethod
    def of(cls, gate: PlanGate) -> "TeamPlanAnswer":
        return cls(
            member=gate.member,
            status=gate.status,
            work_version=gate.work_version,
            item_id=gate.item_id,
            request_id=gate.request_id,
            feedback=gate.feedback,
        )


class TeamPlanList(BaseModel):
    plans: list[TeamPlanAnswer]


@router.get(
    "/{team_id}/requests", summary="List requests", response_model=TeamRequestPage, responses=refusals(*ASKED)
)
async def team_requests(
    team_id: TeamId,
    engine: Serving,
    visit: Visiting,
    kind: RequestKind | None = None,
    status: RequestStatus | None = None,
    limit: Limit = 50,
    before: Annotated[str | None, Query(max_length=128, description="`next` of the page before.")] = None,
) -> TeamRequestPage:
    """Newest first: who was asked to stop, which plans were handed in, and what was answered."""
    await _known(engine, visit.user_id, team_id)
    found = await engine.brain.team_requests.requests(
        visit.user_id, team_id, limit=limit + 1, kind=kind, status=status, before=before
    )
    more = found[limit - 1].request_id if len(found) > limit else None
    return TeamRequestPage(requests=[TeamRequestAnswer.of(one) for one in found[:limit]], next=more)


@router.get(
    "/{team_id}/requests/{request_id}",
    summary="Show a request",
    response_model=TeamRequestAnswer,
    responses=refusals(*ASKED),
)
async def team_request(
    team_id: TeamId, request_id: RequestId, engine: Serving, visit: Visiting
) -> TeamRequestAnswer:
    """With the whole plan, and its answer."""
    found = await engine.brain.team_requests.request(visit.user_id, team_id, request_id)
    if found is None:
        raise protocols.no_request(request_id)
    return TeamRequestAnswer.of(found)


@router.post(
    "/{team_id}/requests/{request_id}/answer",
    summary="Answer a request",
    response_model=TeamRequestAnswer,
    responses=CHANGED,
)
async def answer_team_request(
    team_id: TeamId,
    request_id: RequestId,
    body: TeamAnswerBody,
    engine: Serving,
    visit: Visiting,
    response: Response,
) -> TeamRequestAnswer:
    """Counts once, if the request is yours to answer and still open; everything else changes nothing, and
    `details.reason` says why."""
    key = (visit.user_id, team_id, request_id)
    answered = await protocols.answer(
        engine.services, engine.coordinator.answer, key, body.type, body.approve, body.feedback, body.member
    )
    response.headers.update(warnings(body))
    return TeamRequestAnswer.of(answered)


@router.get(
    "/{team_id}/plans", summary="Show the members' plans", response_model=TeamPlanList, responses=refusals(*ASKED)
)
async def team_plans(team_id: TeamId, engine: Serving, visit: Visiting) -> TeamPlanList:
    """How it stands with each member that was asked for one."""
    await _known(engine, visit.user_id, team_id)
    found = await engine.brain.team_requests.gates(visit.user_id, team_id)
    return TeamPlanList(plans=[TeamPlanAnswer.of(gate) for gate in found])


@router.post(
    "/{team_id}/members/{name}/plan",
    summary="Ask a member for a plan",
    response_model=TeamPlanList,
    responses=CHANGED,
)
async def ask_for_plan(
    team_id: TeamId, name: Member, body: AskMemberBody, engine: Serving, visit: Visiting, response: Response
) -> TeamPlanList:
    """It changes nothing more before a plan is approved, whatever was approved before."""
    await protocols.person(engine.services, visit.user_id, team_id).request_plan(name, body.reason)
    response.headers.update(warnings(body))
    return await team_plans(team_id, engine, visit)


@router.post(
    "/{team_id}/members/{name}/shutdown",
    summary="Ask a member to stop",
    response_model=TeamRequestAnswer,
    responses=CHANGED,
)
async def ask_to_shut_down(
    team_id: TeamId, name: Member, body: AskMemberBody, engine: Serving, visit: Visiting, response: Response
) -> TeamRequestAnswer:
    """It finishes the step it is at, gives its work back and is gone; one that does nothing is gone at once."""
    asked = await protocols.person(engine.services, visit.user_id, team_id).request_shutdown(name, body.reason)
    response.headers.update(warnings(body))
    return TeamRequestAnswer.of(asked)


async def _known(engine: Engine, user_id: str, team_id: str) -> None:
    if await engine.brain.teams.team(user_id, team_id) is None:
        raise protocols.no_team(team_id)
