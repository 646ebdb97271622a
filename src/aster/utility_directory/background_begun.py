"""A background command as it was begun, and the artifact that its output becomes."""

from dataclasses import dataclass
from hashlib import sha256

from aster.brain.records import ArtifactRow, ThreadKey
from aster.contracts.tools import Artifact
from aster.infra.ids import new_id


@dataclass(frozen=True, slots=True)
class Begun:
    """A command as it is told on the thread; `turn_id` and `tool_call_id` are where it was asked for, `work_item` is
    what the task was at then. With `wake` its end begins a turn by itself when the task does nothing."""

    key: ThreadKey
    runtime_task_id: str
    turn_id: str
    tool_call_id: str
    description: str
    wake: bool = False
    work_item: str | None = None


def artifact_of(begun: Begun, text: str, now: int) -> ArtifactRow:
    """All that is kept of what a command said."""
    data = text.encode("utf-8", "replace")
    return ArtifactRow(
        artifact_id=new_id("art"),
        turn_id=begun.turn_id,
        tool_call_id=begun.tool_call_id,
        name=f"{begun.runtime_task_id}.txt",
        media_type="text/plain",
        size=len(data),
        sha256=sha256(data).hexdigest(),
        data=data,
        created_at=now,
    )


def named(row: ArtifactRow) -> Artifact:
    return Artifact(id=row.artifact_id, media_type=row.media_type, size=row.size, name=row.name)
