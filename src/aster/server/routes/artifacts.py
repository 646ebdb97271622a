"""What the tools of a task produced: artifacts to list and download, and changes of files to take back."""

from urllib.parse import quote

from fastapi import APIRouter, Response

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.tasks import existing
from aster.server.answers import ArtifactEntry, ArtifactList, UndoAnswer, UndoneFile
from aster.server.bodies import PathTaskId, UndoBody, warnings
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/tasks/{task_id}", tags=["tasks"], dependencies=KEYED)


@router.get(
    "/artifacts",
    summary="List a task's artifacts",
    response_model=ArtifactList,
    responses=refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def artifacts(task_id: PathTaskId, engine: Serving, visit: Visiting) -> ArtifactList:
    """Output of tools that was too long for the conversation, newest first."""
    key = ThreadKey(visit.user_id, task_id)
    await existing(engine.brain, key)
    return ArtifactList(artifacts=[ArtifactEntry.of(record) for record in await engine.brain.artifacts(key)])


@router.get(
    "/artifacts/{artifact_id}",
    summary="Download an artifact",
    responses={
        **refusals(ErrorCode.TASK_NOT_FOUND, ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
        200: {"description": "The artifact as it was kept.", "content": {"application/octet-stream": {}}},
    },
)
async def artifact(task_id: PathTaskId, artifact_id: str, engine: Serving, visit: Visiting) -> Response:
    """Always a download: whatever a tool wrote is never shown as a page of this server."""
    await existing(engine.brain, ThreadKey(visit.user_id, task_id))
    found = await engine.brain.artifact(visit.user_id, artifact_id)
    if found is None or found[0].task_id != task_id:
        raise EngineError(
            ErrorCode.NOT_FOUND,
            f"There is no artifact {artifact_id!r} in this task. GET /tasks/{{task_id}}/artifacts lists them.",
            {"task_id": task_id, "artifact_id": artifact_id},
        )
    record, data = found
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(record.name, safe='')}",
        "ETag": f'"{record.sha256}"',
    }
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.post(
    "/undo",
    summary="Take back what a turn did to files",
    response_model=UndoAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.TASK_NOT_FOUND,
        ErrorCode.NOT_FOUND,
        ErrorCode.TASK_BUSY,
        ErrorCode.UNDO_CONFLICT,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def undo(
    task_id: PathTaskId, body: UndoBody, engine: Serving, visit: Visiting, response: Response
) -> UndoAnswer:
    """Files changed by `write_file` and `edit_file` are made what they were before the turn, byte for byte. What a
    shell command did is not taken back."""
    done = await engine.tasks.undo(visit.user_id, task_id, body.turn_id, body.force)
    response.headers.update(warnings(body))
    return UndoAnswer(
        turn_id=done.undone_turn_id, files=[UndoneFile(path=file.path, action=file.action) for file in done.files]
    )
