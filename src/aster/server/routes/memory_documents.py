"""Documents: which long texts are kept in parts, whether somebody put them in or a message was too long."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.infra.clock import iso_ms
from aster.server.bodies import LARGEST
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/memory", tags=["memory"], dependencies=KEYED)


class KeptDocument(BaseModel):
    document: str
    title: str
    parts: int
    characters: int
    task_id: str = Field(description="The task it came from; empty when it came from none.")
    extractor: str = Field(description="Who put it in; `ingestion` when a message was too long.")
    created_at: str


class DocumentPage(BaseModel):
    documents: list[KeptDocument]
    next: int | None = Field(description="`before` of the next page; null on the last.")


@router.get(
    "/documents",
    summary="List documents",
    response_model=DocumentPage,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def kept_documents(
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[str | None, Query(max_length=256, description="Only what came from this task.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")] = None,
) -> DocumentPage:
    """Newest first. `POST /memory/forget` forgets one by its name; one that came from a message goes with its task."""
    found = await engine.memory.documents(visit.user_id, limit=limit + 1, task_id=task_id, before=before)
    more = found[limit - 1].number if len(found) > limit else None
    return DocumentPage(
        documents=[
            KeptDocument(
                document=one.name,
                title=one.title,
                parts=one.parts,
                characters=one.characters,
                task_id=one.task_id,
                extractor=one.extractor,
                created_at=iso_ms(one.created_at),
            )
            for one in found[:limit]
        ],
        next=more,
    )
