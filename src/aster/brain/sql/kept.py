"""Reading what is kept beside a thread: artifacts, and files as they were before a tool changed them."""

from typing import Any

from aster.brain.records import ArtifactRecord, FileVersion, ThreadKey
from aster.brain.sql.connection import Connection

_ARTIFACT = (
    "a.artifact_id, t.task_id, a.turn_id, a.tool_call_id, a.name, a.media_type, a.size, a.sha256, a.created_at"
)
_VERSION = "call_key, turn_id, tool_call_id, path, existed, mode, data, sha256_after, created_at"


def artifacts(db: Connection, key: ThreadKey) -> list[ArtifactRecord]:
    """Everything a task's tools left, newest first, without the contents."""
    found = db.execute(
        f"SELECT {_ARTIFACT} FROM artifacts a JOIN threads t USING (thread_id)"
        " WHERE t.user_id = ? AND t.task_id = ? ORDER BY a.created_at DESC, a.artifact_id",
        key,
    )
    return [_artifact(row) for row in found]


def artifact(db: Connection, user_id: str, artifact_id: str) -> tuple[ArtifactRecord, bytes] | None:
    """One artifact of a user, whole."""
    row = db.execute(
        f"SELECT {_ARTIFACT}, a.data FROM artifacts a JOIN threads t USING (thread_id)"
        " WHERE a.user_id = ? AND a.artifact_id = ?",
        (user_id, artifact_id),
    ).fetchone()
    return None if row is None else (_artifact(row[:-1]), row[-1])


def file_versions(db: Connection, key: ThreadKey, turn_id: str | None) -> list[FileVersion]:
    """The changes of a turn (of the newest that made any) that have not been taken back, oldest first."""
    thread = "thread_id = (SELECT thread_id FROM threads WHERE user_id = ? AND task_id = ?)"
    if turn_id is None:
        newest = db.execute(
            f"SELECT turn_id FROM file_versions WHERE {thread} AND undone_at IS NULL"
            " ORDER BY created_at DESC, rowid DESC LIMIT 1",
            key,
        ).fetchone()
        if newest is None:
            return []
        turn_id = newest[0]
    found = db.execute(
        f"SELECT {_VERSION} FROM file_versions WHERE {thread} AND turn_id = ? AND undone_at IS NULL"
        " ORDER BY created_at, rowid",
        (*key, turn_id),
    )
    return [FileVersion(**dict(zip(FileVersion.__struct_fields__, row, strict=True))) for row in found]


def _artifact(row: tuple[Any, ...]) -> ArtifactRecord:
    return ArtifactRecord(**dict(zip(ArtifactRecord.__struct_fields__, row, strict=True)))
