"""Taking back what a turn did to files: each is made what it was before the turn, byte for byte.

All or nothing is checked first: a file that somebody has changed since is not overwritten unless that is asked for.
Only the file tools keep what they change; what a command did is not known and not promised.
"""

import hashlib
from pathlib import Path

import msgspec

from aster.brain.records import ConversationRow, FileUndoneRow, FileVersion, Row, ThreadKey
from aster.contracts.blocks import TextBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import FilesRestored, RestoredFile
from aster.contracts.messages import Message
from aster.contracts.model import decode, encode, to_builtins
from aster.engine_core.services import Services
from aster.infra.clock import now_ms
from aster.sandbox.paths import PathRefused, Workspace
from aster.utility_directory.text_files import NotAFile, owner_uid, preserved, put_back
from aster.utility_directory.tool import Preserved


async def undo(services: Services, key: ThreadKey, turn_id: str | None, force: bool) -> FilesRestored:
    """Restore the files of a turn (of the newest that changed any); returns the event that says so."""
    versions = await services.brain.file_versions(key, turn_id)
    if not versions:
        raise EngineError(
            ErrorCode.NOT_FOUND,
            "There is nothing to take back: no file was changed by the file tools there, or it was undone already.",
            {"task_id": key.task_id, "turn_id": turn_id},
        )
    thread = await services.brain.thread(key)
    home = thread.home_task_id if thread is not None else None
    workspace = await services.workspaces.of(key.user_id, home or key.task_id)
    first = {version.path: version for version in reversed(versions)}
    left = {version.path: version.sha256_after for version in versions if version.sha256_after is not None}
    obstacles = await services.sandbox.files.call(_obstacles, workspace, first, left, force)
    if obstacles:
        raise EngineError(
            ErrorCode.UNDO_CONFLICT,
            "Nothing was changed: some files are not as the turn left them. Look at them, or say `force`.",
            {"files": to_builtins(obstacles)},
        )
    owner = owner_uid(services.sandbox)
    restored = await services.sandbox.files.call(_restore, workspace, list(first.values()), owner)
    event = FilesRestored(undone_turn_id=versions[0].turn_id, files=tuple(restored))
    rows: list[Row] = [FileUndoneRow(call_key=version.call_key, undone_at=now_ms()) for version in versions]
    told = await _told(services, key, event)
    await services.brain.append(key, None, [event], rows=rows if told is None else [*rows, told])
    services.history.forget(key)
    return event


async def _told(services: Services, key: ThreadKey, event: FilesRestored) -> ConversationRow | None:
    """The newest turn's conversation with a note at its end, so that the model knows what the files are now."""
    thread = await services.brain.thread(key)
    rows = await services.brain.conversations(key)
    tip = next((row for row in rows if thread is not None and row.turn_id == thread.tip_turn_id), None)
    if tip is None:
        return None
    files = ", ".join(f"{file.path} ({file.action})" for file in event.files)
    note = f"[The person has undone changes of files: {files}. Read a file again before you rely on it.]"
    said = Message(role="user", content=(TextBlock(text=note),))
    messages = [*decode(tip.messages, list[Message]), said]
    return msgspec.structs.replace(tip, messages=encode(messages), message_count=len(messages))


def _obstacles(
    workspace: Workspace, first: dict[str, FileVersion], left: dict[str, str], force: bool
) -> list[dict[str, str]]:
    """What stands in the way, per file; `left` is what the last call that went well made of it."""
    found: list[dict[str, str]] = []
    for path, version in first.items():
        problem = _problem(workspace, Path(path), version, left.get(path), force)
        if problem is not None:
            found.append({"path": workspace.show(Path(path)), "problem": problem})
    return found


def _problem(workspace: Workspace, path: Path, was: FileVersion, left: str | None, force: bool) -> str | None:
    if was.existed and was.data is None:
        return "it was too large to be kept"
    try:
        now = preserved(workspace, workspace.resolve(str(path)))
    except (PathRefused, NotAFile, OSError) as error:
        return f"it cannot be read: {error}"
    if force or now.data == was.data:
        return None
    if now.data is None or left is None or hashlib.sha256(now.data).hexdigest() != left:
        return "it was changed since"
    return None


def _restore(workspace: Workspace, versions: list[FileVersion], owner: int) -> list[RestoredFile]:
    done: list[RestoredFile] = []
    for version in versions:
        path = Path(version.path)
        was = Preserved(path, bool(version.existed), version.mode, version.data)
        put_back(workspace, was, f"undo:{version.call_key}", owner)
        done.append(RestoredFile(path=workspace.show(path), action="restored" if version.existed else "removed"))
    return done
