"""The end of a background command whose engine died: that it is lost, and what it had said, on its thread, once.

Whoever tells it takes the command over first; one that dies between the two leaves it to the next.
"""

from aster.brain.background import BackgroundEndRow, BackgroundRecord
from aster.brain.protocol import Brain
from aster.brain.records import Row, ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import BackgroundTask
from aster.infra.clock import now_ms
from aster.utility_directory.background_begun import Begun, artifact_of, named
from aster.utility_directory.background_spool import Spool


async def tell(brain: Brain, record: BackgroundRecord, spool: Spool) -> bool:
    """Say that a command is lost; false when somebody else has, or its task is gone."""
    key, now = ThreadKey(record.user_id, record.task_id), now_ms()
    if not await _taken(brain, key, record):
        return False
    begun = Begun(key, record.runtime_task_id, record.turn_id, record.tool_call_id, record.description)
    artifact = artifact_of(begun, spool.text, now) if spool.size else None
    event = BackgroundTask(
        runtime_task_id=record.runtime_task_id,
        work="bash",
        status="lost",
        description=record.description,
        summary="The engine stopped while it ran.",
        tool_call_id=record.tool_call_id,
        artifacts=() if artifact is None else (named(artifact),),
    )
    end = BackgroundEndRow(
        runtime_task_id=record.runtime_task_id,
        status="lost",
        ended_at=now,
        artifact_id=None if artifact is None else artifact.artifact_id,
        left_out=spool.left_out,
        said=spool.size,
        wake=record.wake,
    )
    rows: list[Row] = [end] if artifact is None else [end, artifact]
    try:
        await brain.append(key, None, [event], rows=rows, guard=Present())
    except Conflict:
        return False
    return True


async def _taken(brain: Brain, key: ThreadKey, record: BackgroundRecord) -> bool:
    """Whether it is this replica that tells of it. What was not answered is asked again, which waits for what may still
    be written, and then looked up."""
    try:
        return await brain.take_background(record)
    except EngineError as error:
        if error.code is not ErrorCode.STORAGE_UNAVAILABLE:
            raise
    if await brain.take_background(record):
        return True
    now = await brain.background_task(key, record.runtime_task_id)
    return now is not None and now.ended_at is None and now.owner == brain.replica
