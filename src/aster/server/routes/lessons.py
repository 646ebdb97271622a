"""Lessons: whether one helped. What is marked as harmful more often than as helpful is shown less, and goes first."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from aster.contracts.errors import ErrorCode
from aster.infra.clock import now_ms
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.media import Part
from aster.server.memory_answers import Record
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/memory/lessons", tags=["memory"], dependencies=KEYED)


class MarkBody(Part):
    helpful: bool = Field(description="True if it helped, false if it did harm.")


@router.post(
    "/{record_id}/mark",
    summary="Say whether a lesson helped",
    response_model=Record,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def mark(
    record_id: Annotated[str, Path(max_length=128)],
    body: MarkBody,
    engine: Serving,
    visit: Visiting,
    response: Response,
) -> Record:
    """Turns mark the lessons they were given by themselves, when they end well or keep failing."""
    row = await engine.memory.mark(visit.user_id, record_id, helpful=body.helpful)
    response.headers.update(warnings(body))
    return Record.of(row, now_ms())
