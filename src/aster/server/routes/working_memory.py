"""The working memory of a task: what the agent noted while it worked, until it ends by itself."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.contracts.memory import EntryType
from aster.infra.clock import iso_ms
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/memory", tags=["memory"], dependencies=KEYED)


class Entry(BaseModel):
    """A note; `first_seq` to `last_seq` is the part of the thread it was made in."""

    id: str
    type: EntryType
    text: str
    created_at: str
    expires_at: str | None
    extractor: str
    first_seq: int
    last_seq: int


class EntryList(BaseModel):
    task_id: str
    entries: list[Entry] = Field(description="Oldest first, without those whose time is over.")


@router.get(
    "/working",
    summary="What was noted in a task",
    response_model=EntryList,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def working(
    engine: Serving, visit: Visiting, task_id: Annotated[str, Query(min_length=1, max_length=256)]
) -> EntryList:
    """Empty for a task without notes, or one of somebody else. A note is forgotten like any other memory."""
    found = await engine.memory.notes(visit.user_id, task_id)
    entries = [
        Entry(
            id=row.id,
            type=row.fields["type"],
            text=row.text,
            created_at=iso_ms(row.created_at),
            expires_at=iso_ms(row.fields["expires_at"]) if row.fields["expires_at"] else None,
            extractor=row.extractor,
            first_seq=row.first_seq,
            last_seq=row.last_seq,
        )
        for row in found
    ]
    return EntryList(task_id=task_id, entries=entries)
