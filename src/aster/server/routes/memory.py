"""Memory: search, the soul, how much there is, and taking all of it along. Everybody sees their own alone."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from aster.brain.memory_kinds import SEARCHED, Store
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import iso_ms, now_ms
from aster.memory.drafts import Draft
from aster.memory.finding import Match
from aster.memory.portable import FORMAT, VERSION, bundled, read_bundle
from aster.server.bodies import WARNING_HEADER, warnings
from aster.server.errors import refusals
from aster.server.memory_answers import (
    Hit,
    HitList,
    Record,
    SearchAllBody,
    SearchBody,
    SearchedStore,
    SoulAnswer,
    SoulBody,
    SoulFull,
)
from aster.server.visit import KEYED, Serving, Visiting
from aster.skills.drafts import drafts_from

router = APIRouter(prefix="/memory", tags=["memory"], dependencies=KEYED)

_JSON: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
BODY = (
    ErrorCode.MALFORMED_REQUEST,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.STORAGE_UNAVAILABLE,
)


class StoreCount(BaseModel):
    store: Store
    records: int
    superseded: int


class UserCount(BaseModel):
    user_id: str
    records: int


class StatisticsAnswer(BaseModel):
    stores: list[StoreCount]
    users: list[UserCount] | None = Field(description="With `everyone`: who has how much.")
    model: str | None = Field(description="Who makes the vectors.")
    pending: int = Field(description="Records of all users that wait for their vector.")
    fault: str | None = Field(description="Why records are found by their words alone, if so.")


class ContradictionAnswer(BaseModel):
    at: str
    old_id: str
    old: str
    new_id: str
    new: str


class ContradictionList(BaseModel):
    contradictions: list[ContradictionAnswer]


class WayAnswer(BaseModel):
    text: str
    score: int
    edges: list[str]


class WayList(BaseModel):
    ways: list[WayAnswer]


class ImportAnswer(BaseModel):
    imported: int
    known: int = Field(description="Records that were here already.")
    skills: int = Field(0, description="Skills of yours that are new here.")


@router.post("/search", summary="Search all stores", response_model=HitList, responses=refusals(*BODY))
async def search_all(body: SearchAllBody, engine: Serving, visit: Visiting, response: Response) -> HitList:
    """The best of every store, the most relevant first."""
    stores = cast("Sequence[Store]", body.stores or SEARCHED)
    found = await engine.memory.search(visit.user_id, body.query, stores, limit=body.limit)
    response.headers.update(warnings(body))
    now = now_ms()
    return HitList(hits=[Hit.found(match, now) for match in found.best(body.limit)], notice=found.notice)


@router.post(
    "/{store}/search",
    summary="Search one store",
    response_model=list[Hit],
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def search(
    store: SearchedStore, body: SearchBody, engine: Serving, visit: Visiting, response: Response
) -> list[Hit]:
    """By meaning and by words. Without a model to tell meaning, `X-Aster-Warning` says that words decided."""
    found = await engine.memory.search(visit.user_id, body.query, [store], limit=body.limit)
    response.headers.update(warnings(body))
    if found.notice is not None:
        response.headers[WARNING_HEADER] = found.notice.encode("ascii", "replace").decode()
    now = now_ms()
    matches: list[Match] = found.stores[store]
    return [Hit.found(match, now) for match in matches]


@router.get("/soul", summary="Who the agent is", response_model=SoulAnswer, responses=refusals())
async def soul(engine: Serving, visit: Visiting) -> SoulAnswer:
    """The soul as it is now."""
    return SoulAnswer.of((await engine.memory.soul(visit.user_id))[0])


@router.get("/soul/full", summary="The soul and its history", response_model=SoulFull, responses=refusals())
async def soul_full(engine: Serving, visit: Visiting) -> SoulFull:
    """Every version with its receipt."""
    versions = await engine.memory.soul(visit.user_id)
    now = now_ms()
    shown = [Record.of(row, now) for row in versions]
    return SoulFull(**SoulAnswer.of(versions[0]).model_dump(), versions=shown)


@router.put("/soul", summary="Change who the agent is", response_model=SoulAnswer, responses=refusals(*BODY))
async def change_soul(body: SoulBody, engine: Serving, visit: Visiting, response: Response) -> SoulAnswer:
    """A new version; the old ones stay in the history."""
    fields = body.model_dump(include={"identity", "values", "patterns", "voice"})
    draft = Draft("soul", fields, extractor="person", derived_from=tuple(body.derived_from))
    done = await engine.memory.write(visit.user_id, [draft])
    response.headers.update(warnings(body))
    return SoulAnswer.of(done[0].row)


@router.get(
    "/statistics",
    summary="How much is remembered",
    response_model=StatisticsAnswer,
    responses=refusals(ErrorCode.PERMISSION_DENIED, ErrorCode.INVALID_REQUEST),
)
async def statistics(
    engine: Serving,
    visit: Visiting,
    everyone: Annotated[bool, Query(description="Of all users; for the operator.")] = False,
) -> StatisticsAnswer:
    """By store, and what waits for its vector."""
    if everyone and not visit.caller.operator:
        raise EngineError(ErrorCode.PERMISSION_DENIED, "Only the operator sees how much everyone has.")
    found = await engine.memory.statistics(None if everyone else visit.user_id)
    counts = await engine.memory.users() if everyone else []
    return StatisticsAnswer(
        stores=[
            StoreCount(store=one.store, records=one.records, superseded=one.superseded) for one in found.stores
        ],
        users=[UserCount(user_id=name, records=count) for name, count in counts] if everyone else None,
        model=found.model,
        pending=found.pending,
        fault=found.fault,
    )


@router.get(
    "/contradictions",
    summary="What replaced what",
    response_model=ContradictionList,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def contradictions(
    engine: Serving, visit: Visiting, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> ContradictionList:
    """Beliefs that changed, newest first."""
    found = await engine.memory.contradictions(visit.user_id, limit)
    return ContradictionList(
        contradictions=[
            ContradictionAnswer(at=iso_ms(one.at), old_id=one.old_id, old=old, new_id=one.new_id, new=new)
            for one, old, new in found
        ]
    )


@router.get(
    "/social/paths",
    summary="Ways through the social graph",
    response_model=WayList,
    responses=refusals(ErrorCode.INVALID_REQUEST),
)
async def paths(
    engine: Serving,
    visit: Visiting,
    about: Annotated[str, Query(min_length=1, max_length=1000, description="Names, separated by commas.")],
    hops: Annotated[int, Query(ge=1, le=3)] = 3,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> WayList:
    """What holds now between people and things, from, to and through those named."""
    found = await engine.memory.ways(visit.user_id, about.split(","), hops=hops, limit=limit)
    return WayList(
        ways=[WayAnswer(text=str(way), score=way.score, edges=[edge.id for edge in way.edges]) for way in found]
    )


@router.get(
    "/export",
    summary="Take everything along",
    responses={
        **refusals(),
        200: {"description": f"A bundle of the format `{FORMAT}`, version {VERSION}.", "content": _JSON},
    },
)
async def export(engine: Serving, visit: Visiting) -> StreamingResponse:
    """All records with their history and receipts, and the skills you wrote, as one JSON document."""
    headers = {"Content-Disposition": 'attachment; filename="aster-memory.json"'}
    pieces = bundled(engine.memory.records(visit.user_id), await engine.skills.drafts(visit.user_id))
    return StreamingResponse(pieces, media_type="application/json", headers=headers)


@router.post(
    "/import",
    summary="Take in an exported memory",
    response_model=ImportAnswer,
    responses=refusals(*BODY),
    openapi_extra={"requestBody": {"required": True, "content": _JSON}},
)
async def take_in(request: Request, engine: Serving, visit: Visiting) -> ImportAnswer:
    """Records keep their ids. What is here already stays as it is, so a bundle can be sent twice, or in parts."""
    bundle = await asyncio.to_thread(read_bundle, await request.body())
    skills = drafts_from(bundle.skills)
    new, known = await engine.memory.restore(visit.user_id, bundle)
    return ImportAnswer(imported=new, known=known, skills=await engine.skills.take_in(visit.user_id, skills))
