"""Files of a task's workspace: brought in, taken out, and all of them as one archive."""

import os
import tempfile
from io import BytesIO
from typing import Annotated, Any, cast

from fastapi import APIRouter, Form, Path, Query, Request, UploadFile
from pydantic import BaseModel, BeforeValidator, Field

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.engine_core.files import Unpacked, fit_name
from aster.infra.clock import iso_ms, now_ms
from aster.infra.logging import bind_now
from aster.server.bodies import PathTaskId, TaskId, unquote
from aster.server.errors import refusals
from aster.server.media import Part
from aster.server.uploads import FileStream
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(tags=["files"], dependencies=KEYED)

_ZIP = "application/zip"
_ARCHIVE: dict[str, Any] = {"description": "The archive.", "content": {_ZIP: {}}}
_FIELD_CHARS = 4096

SessionId = Annotated[TaskId | None, Form(description="The same as `task_id`.")]


class UploadAnswer(BaseModel):
    status: str = "success"
    filename: str
    path: str = Field(description="Where it is in the workspace.")
    size: int
    created: bool = Field(description="False when a file of that name was replaced.")
    task_id: str


class SaveBody(Part):
    chat_history: list[Any] = Field(default_factory=list[Any], description="Whatever the client keeps with it.")
    task_id: TaskId | None = None
    session_id: TaskId | None = Field(None, description="The same as `task_id`.")


class LoadAnswer(BaseModel):
    status: str = "success"
    files: int
    chat_history: list[Any]
    task_id: str


@router.post(
    "/api/upload",
    summary="Put a file into a task's workspace",
    response_model=UploadAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def upload(
    file: UploadFile,
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[TaskId | None, Form(description="Whose workspace.")] = None,
    session_id: SessionId = None,
    path: Annotated[
        str | None, Form(max_length=_FIELD_CHARS, description="Where; left out, by its own name at the top.")
    ] = None,
) -> UploadAnswer:
    """A form with the part `file`. What has the same name is replaced."""
    key = _key(engine, visit, task_id or session_id)
    name = fit_name(file.filename)
    stored = await engine.files.put(key, path or name, await file.read())
    return UploadAnswer(
        filename=name, path=stored.path, size=stored.size, created=stored.created, task_id=key.task_id
    )


@router.get(
    "/api/download/{path:path}",
    summary="Take a file out of a task's workspace",
    responses={
        **refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST, ErrorCode.PERMISSION_DENIED),
        200: {"description": "The file as it is.", "content": {"application/octet-stream": {}}},
    },
)
async def download(
    path: Annotated[str, Path(description="In the workspace, percent-encoded."), BeforeValidator(unquote)],
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[TaskId | None, Query(description="Whose workspace.")] = None,
    session_id: Annotated[TaskId | None, Query(description="The same as `task_id`.")] = None,
) -> FileStream:
    """Always a download: whatever a file holds is never shown as a page of this server."""
    found = await engine.files.open(_key(engine, visit, task_id or session_id), path)
    return FileStream(os.fdopen(found.fd, "rb"), found.size, found.name)


@router.post(
    "/api/workspace/save",
    summary="A workspace and a conversation as one archive",
    responses={
        **refusals(
            ErrorCode.MALFORMED_REQUEST,
            ErrorCode.INVALID_REQUEST,
            ErrorCode.TASK_NOT_FOUND,
            ErrorCode.PAYLOAD_TOO_LARGE,
            ErrorCode.SLOTS_EXHAUSTED,
        ),
        200: _ARCHIVE,
    },
)
async def save(body: SaveBody, engine: Serving, visit: Visiting) -> FileStream:
    """`session.json` is what the client keeps, `sandbox/…` are the files. Links are left out."""
    key = _key(engine, visit, body.task_id or body.session_id)
    return await _packed(engine, key, body.chat_history)


@router.post(
    "/api/workspace/load",
    summary="Take in such an archive",
    response_model=LoadAnswer,
    responses=refusals(
        ErrorCode.INVALID_REQUEST,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.TASK_BUSY,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
)
async def load(
    file: UploadFile,
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[TaskId | None, Form(description="Whose workspace.")] = None,
    session_id: SessionId = None,
) -> LoadAnswer:
    """All of it or nothing. Files of the same name are replaced, others stay."""
    key = _key(engine, visit, task_id or session_id)
    return _loaded(key, await engine.files.unpack(key, file.file))


@router.get(
    "/tasks/{task_id}/workspace",
    summary="A task's workspace as an archive",
    responses={
        **refusals(
            ErrorCode.INVALID_REQUEST,
            ErrorCode.TASK_NOT_FOUND,
            ErrorCode.PAYLOAD_TOO_LARGE,
            ErrorCode.SLOTS_EXHAUSTED,
        ),
        200: _ARCHIVE,
    },
)
async def workspace(task_id: PathTaskId, engine: Serving, visit: Visiting) -> FileStream:
    """A zip archive: its files are below `sandbox/`. Links are left out."""
    return await _packed(engine, ThreadKey(visit.user_id, task_id), [])


@router.post(
    "/tasks/{task_id}/workspace",
    summary="Take an archive into a task's workspace",
    response_model=LoadAnswer,
    responses=refusals(
        ErrorCode.INVALID_REQUEST,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.TASK_BUSY,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ),
    openapi_extra={"requestBody": {"required": True, "content": {_ZIP: {}}}},
)
async def fill(task_id: PathTaskId, request: Request, engine: Serving, visit: Visiting) -> LoadAnswer:
    """The body is such an archive (`application/zip`). All of it is taken or nothing."""
    key = ThreadKey(visit.user_id, task_id)
    return _loaded(key, await engine.files.unpack(key, BytesIO(await request.body())))


def _key(engine: Engine, visit: Visit, task_id: str | None) -> ThreadKey:
    """Whose workspace is meant; without a task only where all tasks of a user share one."""
    settings = engine.settings
    if task_id is None and settings.workspace == "task" and not settings.roots:
        problem = "is missing: here every task has a workspace of its own"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Correct this and send it again: `task_id` {problem}.",
            {"fields": [{"field": "task_id", "problem": problem}]},
        )
    if task_id is not None:
        bind_now(task_id=task_id)
    return ThreadKey(visit.user_id, task_id or "")


async def _packed(engine: Engine, key: ThreadKey, history: list[Any]) -> FileStream:
    session: dict[str, object] = {"task_id": key.task_id, "saved_at": iso_ms(now_ms()), "chat_history": history}
    sent = engine.files.hold()
    file = None
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed by whoever sends it
        await engine.files.pack(key, file, session)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
    except BaseException:
        if file is not None:
            file.close()
        sent()
        raise
    return FileStream(file, size, "workspace.zip", _ZIP, done=sent)


def _loaded(key: ThreadKey, done: Unpacked) -> LoadAnswer:
    """What came with the files; an archive without a session is files alone."""
    kept = done.session.get("chat_history")
    history = cast("list[Any]", kept) if isinstance(kept, list) else []
    return LoadAnswer(files=done.files, chat_history=history, task_id=key.task_id)
