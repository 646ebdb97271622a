"""The replays that are kept of a task: found by their threads, so that they go with it."""

from typing import Final

from aster.brain.protocol import Brain
from aster.brain.records import Place, ThreadKey, ThreadRecord

PAGE: Final = 200


def is_replay(thread: ThreadRecord, task_id: str) -> bool:
    """Whether a thread is a replay of a task; that of a sub-agent is from no other."""
    return thread.parent_task_id == task_id and thread.from_task_id == task_id


async def replays_of(brain: Brain, key: ThreadKey) -> list[ThreadRecord]:
    """The threads of all replays of a task."""
    found: list[ThreadRecord] = []
    before: Place | None = None
    while True:
        page = await brain.threads(key.user_id, parent=key.task_id, limit=PAGE, before=before)
        found += (thread for thread in page if is_replay(thread, key.task_id))
        if len(page) < PAGE:
            return found
        before = Place(page[-1].updated_at, page[-1].task_id)
