"""Single memories: list, look at, write, correct, and forget with everything that hangs on them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel

from aster.brain.memory_kinds import Store
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms, now_ms
from aster.memory.documents import Document
from aster.memory.overview import Preview
from aster.server.bodies import LARGEST, OtherId, warnings
from aster.server.errors import refusals
from aster.server.memory_answers import (
    CorrectBody,
    DocumentBody,
    DoomedRecord,
    ForgetBody,
    ForgetDoBody,
    ForgottenAnswer,
    PreviewAnswer,
    Receipt,
    Record,
    RecordBody,
    RecordList,
    RecordPage,
    TouchedTask,
    WrittenAnswer,
)
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(prefix="/memory", tags=["memory"], dependencies=KEYED)

RecordId = Annotated[str, Path(max_length=128)]


class UseAnswer(BaseModel):
    task_id: str
    turn_id: str
    times: int
    used_at: str


class FullReceipt(BaseModel):
    """The receipt of a record, the records it was derived from, and the tasks that had it in their context."""

    receipt: Receipt
    sources: list[Record]
    used_in: list[UseAnswer]


class DocumentAnswer(BaseModel):
    document: str
    parts: int
    new: int


class Wiped(BaseModel):
    user_id: str
    forgotten: int


@router.get(
    "/records", summary="List memories", response_model=RecordPage, responses=refusals(ErrorCode.INVALID_REQUEST)
)
async def records(
    engine: Serving,
    visit: Visiting,
    store: Store | None = None,
    task_id: Annotated[str | None, Query(max_length=256, description="Only what came from this task.")] = None,
    superseded: Annotated[bool, Query(description="Also what something else took the place of.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")] = None,
) -> RecordPage:
    """Newest first."""
    found = await engine.memory.page(
        visit.user_id, limit=limit + 1, store=store, before=before, task_id=task_id, superseded=superseded
    )
    now = now_ms()
    more = found[limit - 1].number if len(found) > limit else None
    return RecordPage(records=[Record.of(row, now) for row in found[:limit]], next=more)


@router.post("/records", summary="Remember something", response_model=WrittenAnswer, responses=refusals(*BODY))
async def remember(body: RecordBody, engine: Serving, visit: Visiting, response: Response) -> WrittenAnswer:
    """By the rules of its kind: what is known is not kept twice, and what takes a place ends what held it."""
    done = await engine.memory.write(visit.user_id, [body.draft(body.kind, body.fields)])
    response.headers.update(warnings(body))
    return WrittenAnswer.of(done[0], now_ms())


@router.post("/documents", summary="Remember a long text", response_model=DocumentAnswer, responses=refusals(*BODY))
async def ingest(body: DocumentBody, engine: Serving, visit: Visiting, response: Response) -> DocumentAnswer:
    """In parts that are found one by one. The same text again changes nothing."""
    document = Document(body.document, body.text, body.title)
    done = await engine.memory.ingest(visit.user_id, document, body.draft("chunk", {}))
    response.headers.update(warnings(body))
    new = sum(written.action != "duplicate" for written in done)
    return DocumentAnswer(document=body.document, parts=len(done), new=new)


@router.get(
    "/records/{record_id}",
    summary="One memory",
    response_model=Record,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def record(record_id: RecordId, engine: Serving, visit: Visiting) -> Record:
    """With the receipt that says where it came from."""
    return Record.of(await engine.memory.get(visit.user_id, record_id), now_ms())


@router.patch(
    "/records/{record_id}",
    summary="Correct a memory",
    response_model=WrittenAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def correct(
    record_id: RecordId, body: CorrectBody, engine: Serving, visit: Visiting, response: Response
) -> WrittenAnswer:
    """A new version takes its place, as if it had always been so; the history keeps the old one."""
    done = await engine.memory.correct(visit.user_id, record_id, body.fields, body.extractor)
    response.headers.update(warnings(body))
    return WrittenAnswer.of(done, now_ms())


@router.get(
    "/records/{record_id}/receipt",
    summary="Where a memory came from",
    response_model=FullReceipt,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def receipt(record_id: RecordId, engine: Serving, visit: Visiting) -> FullReceipt:
    """What it was derived from, and which tasks had it in their context."""
    row = await engine.memory.get(visit.user_id, record_id)
    now = now_ms()
    sources = await engine.memory.sources(visit.user_id, row)
    uses = await engine.memory.uses(visit.user_id, row)
    return FullReceipt(
        receipt=Receipt.of(row),
        sources=[Record.of(source, now) for source in sources],
        used_in=[
            UseAnswer(task_id=use.task_id, turn_id=use.turn_id, times=use.times, used_at=iso_ms(use.used_at))
            for use in uses
        ],
    )


@router.get(
    "/records/{record_id}/history",
    summary="What a memory was before",
    response_model=RecordList,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def history(record_id: RecordId, engine: Serving, visit: Visiting) -> RecordList:
    """Every version, oldest first: what was corrected, and what was true until something else was."""
    now = now_ms()
    return RecordList(
        records=[Record.of(row, now) for row in await engine.memory.history(visit.user_id, record_id)]
    )


@router.post(
    "/forget/preview",
    summary="What would be forgotten",
    response_model=PreviewAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def preview(body: ForgetBody, engine: Serving, visit: Visiting, response: Response) -> PreviewAnswer:
    """The records themselves and all that hangs on them, and the tasks whose threads say it too."""
    found = await engine.memory.preview(visit.user_id, body.ids, body.spans, body.documents)
    response.headers.update(warnings(body))
    return PreviewAnswer(
        records=[
            DoomedRecord(id=one.row.id, store=one.row.store, text=one.row.text, why=one.why, because=one.because)
            for one in found.records
        ],
        tasks=_touched(found),
    )


@router.post(
    "/forget",
    summary="Forget",
    response_model=ForgottenAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.TASK_BUSY),
)
async def forget(body: ForgetDoBody, engine: Serving, visit: Visiting, response: Response) -> ForgottenAnswer:
    """Everything the preview shows. When this answers, the brain's file holds nothing of it; threads are deleted
    only with `delete_tasks`."""
    found = await engine.memory.preview(visit.user_id, body.ids, body.spans, body.documents)
    tasks = await _deleted(engine, visit, found) if body.delete_tasks else []
    doomed = [one.row.id for one in found.records]
    await engine.memory.forget(visit.user_id, doomed)
    engine.skills.changed(visit.user_id)
    response.headers.update(warnings(body))
    return ForgottenAnswer(forgotten=doomed, deleted_tasks=tasks)


@router.delete(
    "",
    summary="Forget everything",
    response_model=Wiped,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.PERMISSION_DENIED, ErrorCode.STORAGE_UNAVAILABLE),
)
async def wipe(
    engine: Serving,
    visit: Visiting,
    confirm: Annotated[str, Query(description="The word `everything`, so that nobody does this by accident.")],
    user_id: Annotated[OtherId | None, Query(description="Whose; anybody else's is for the operator.")] = None,
) -> Wiped:
    """All memories of one user, for good."""
    if confirm != "everything":
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            "Send confirm=everything to forget everything.",
            {"fields": [{"field": "confirm", "problem": "is not `everything`"}]},
        )
    whose = user_id or visit.user_id
    if whose != visit.user_id and not visit.caller.operator:
        raise EngineError(ErrorCode.PERMISSION_DENIED, "Only the operator can wipe the memory of another user.")
    forgotten = await engine.memory.wipe(whose)
    engine.skills.changed(whose)
    return Wiped(user_id=whose, forgotten=forgotten)


def _touched(found: Preview) -> list[TouchedTask]:
    sources = [TouchedTask(task_id=task, why="source") for task in found.sources]
    used = [use.task_id for use in found.uses if use.task_id not in found.sources]
    return [*sources, *(TouchedTask(task_id=task, why="used") for task in used)]


async def _deleted(engine: Engine, visit: Visit, found: Preview) -> list[str]:
    """Delete the tasks a forget touches; none when one of them runs or waits."""
    there: list[str] = []
    for task in _touched(found):
        thread = await engine.brain.thread(ThreadKey(visit.user_id, task.task_id))
        if thread is None:
            continue
        if thread.status != "idle":
            raise EngineError(
                ErrorCode.TASK_BUSY,
                f"Task {task.task_id!r} says it too and has a turn that runs or waits. Cancel it first.",
                {"task_id": task.task_id},
            )
        there.append(task.task_id)
    for task_id in there:
        await engine.tasks.delete(visit.user_id, task_id)
    return there
