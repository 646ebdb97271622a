"""Teams: agents that work beside each other for one task, and the mail between them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from aster.contracts.errors import ErrorCode
from aster.contracts.teams import TeamStatus
from aster.engine_core.teams.desk import TeamDesk
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.routes.memory import BODY
from aster.server.team_answers import (
    LetterAnswer,
    LetterBody,
    LetterPage,
    LettersAnswer,
    MembersBody,
    TeamBody,
    TeamLine,
    TeamPage,
    TeamSheet,
)
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/teams", tags=["work"], dependencies=KEYED)

Id = Annotated[str, Path(max_length=128, description="The team's id.")]
Name = Annotated[str, Path(max_length=64, description="The member's name.")]
Limit = Annotated[int, Query(ge=1, le=200)]
MADE = refusals(
    *BODY,
    ErrorCode.NOT_FOUND,
    ErrorCode.PERMISSION_DENIED,
    ErrorCode.TEAM_CONFLICT,
    ErrorCode.WORK_CONFLICT,
)
FOUND = refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
STOPPED = refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND, ErrorCode.TEAM_CONFLICT)


@router.post("", status_code=201, summary="Make a team", response_model=TeamSheet, responses=MADE)
async def make_team(body: TeamBody, engine: Serving, visit: Visiting, response: Response) -> TeamSheet:
    """Its members begin at once, each in a task of its own, with the work they were given claimed before. A name that
    cannot be, or work that cannot be claimed, refuses all of it."""
    made = await TeamDesk(engine.services, visit.user_id).create(
        [member.draft() for member in body.members],
        task_id=body.task_id,
        name=body.name,
        board=body.board,
        budget_usd=body.budget_usd,
    )
    response.headers.update(warnings(body))
    return TeamSheet.shown(made)


@router.get("", summary="List teams", response_model=TeamPage, responses=refusals(ErrorCode.INVALID_REQUEST))
async def list_teams(
    engine: Serving,
    visit: Visiting,
    status: TeamStatus | None = None,
    limit: Limit = 50,
    before: Annotated[str | None, Query(max_length=128, description="`next` of the page before.")] = None,
) -> TeamPage:
    """Newest first."""
    desk = TeamDesk(engine.services, visit.user_id)
    found = await desk.teams(limit=limit + 1, before=before, status=status)
    more = found[limit - 1].team_id if len(found) > limit else None
    return TeamPage(teams=[TeamLine.of(team) for team in found[:limit]], next=more)


@router.get("/{team_id}", summary="Show a team", response_model=TeamSheet, responses=FOUND)
async def show_team(team_id: Id, engine: Serving, visit: Visiting) -> TeamSheet:
    """Who is in it, whether they work or rest and at what, what it costs, and how much is on its board."""
    return TeamSheet.shown(await TeamDesk(engine.services, visit.user_id).sheet(team_id))


@router.post("/{team_id}/members", status_code=201, summary="Add members", response_model=TeamSheet, responses=MADE)
async def add_members(
    team_id: Id, body: MembersBody, engine: Serving, visit: Visiting, response: Response
) -> TeamSheet:
    """All of them begin, or none."""
    desk = TeamDesk(engine.services, visit.user_id)
    made = await desk.add(team_id, [member.draft() for member in body.members])
    response.headers.update(warnings(body))
    return TeamSheet.shown(made)


@router.get("/{team_id}/mail", summary="Read the mail of a team", response_model=LetterPage, responses=FOUND)
async def team_mail(
    team_id: Id,
    engine: Serving,
    visit: Visiting,
    name: Annotated[str | None, Query(max_length=64, description="What this one wrote or got.")] = None,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=0, description="`next` of the page before.")] = None,
) -> LetterPage:
    """Newest first, with whether each was told and heard."""
    desk = TeamDesk(engine.services, visit.user_id)
    found = await desk.mail(team_id, limit=limit + 1, before=before, name=name)
    more = found[limit - 1].number if len(found) > limit else None
    return LetterPage(mail=[LetterAnswer.of(one) for one in found[:limit]], next=more)


@router.post(
    "/{team_id}/mail",
    status_code=201,
    summary="Write to a team",
    response_model=LettersAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.TEAM_CONFLICT),
)
async def write_mail(
    team_id: Id, body: LetterBody, engine: Serving, visit: Visiting, response: Response
) -> LettersAnswer:
    """To a member, to the lead, or to all members. Whoever rests is woken by it; whoever works gets it before its next
    step."""
    sent = await TeamDesk(engine.services, visit.user_id).say(team_id, body.to, body.content)
    response.headers.update(warnings(body))
    return LettersAnswer(mail=[LetterAnswer.of(one) for one in sent])


@router.post("/{team_id}/stop", summary="Stop a team", response_model=TeamSheet, responses=STOPPED)
async def stop_team(team_id: Id, engine: Serving, visit: Visiting) -> TeamSheet:
    """All its members stop at once, what they were at is back on the board, and nobody begins any more."""
    return TeamSheet.shown(await TeamDesk(engine.services, visit.user_id).stop(team_id))


@router.post("/{team_id}/members/{name}/stop", summary="Stop a member", response_model=TeamSheet, responses=STOPPED)
async def stop_member(team_id: Id, name: Name, engine: Serving, visit: Visiting) -> TeamSheet:
    """It stops at once; what it was at is back on the board, for another to take."""
    return TeamSheet.shown(await TeamDesk(engine.services, visit.user_id).stop(team_id, name))
