"""Tasks as a whole: found, renamed, forked, deleted. None of it touches a turn that runs or waits."""

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey, ThreadRecord
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import CompactionEvent, FilesRestored, TaskLifecycle
from aster.engine_core import forks, undo
from aster.engine_core.compaction import requests
from aster.engine_core.live import LiveTurns
from aster.engine_core.orders import Forked
from aster.engine_core.services import Services
from aster.media import ingestion


async def existing(brain: Brain, key: ThreadKey) -> ThreadRecord:
    """The task, or `TASK_NOT_FOUND`."""
    thread = await brain.thread(key)
    if thread is None:
        message = f"There is no task {key.task_id!r}."
        raise EngineError(ErrorCode.TASK_NOT_FOUND, message, {"task_id": key.task_id})
    return thread


class Tasks:
    def __init__(self, services: Services, live: LiveTurns) -> None:
        self._services = services
        self._brain = services.brain
        self._live = live

    async def fork(self, user_id: str, task_id: str, seq: int, new_task_id: str | None) -> Forked:
        """A new task that begins where another stood at a seq."""
        forked = await forks.fork(self._services, ThreadKey(user_id, task_id), seq, new_task_id)
        await self._services.workspaces.copy(user_id, task_id, forked.task_id)
        return forked

    async def rename(self, user_id: str, task_id: str, title: str) -> ThreadRecord:
        """Give a task another title; the change is on its thread like everything else."""
        key = ThreadKey(user_id, task_id)
        await existing(self._brain, key)
        renamed = TaskLifecycle(phase="renamed", title=self._services.secrets.clean(title, "person"))
        await self._brain.append(key, None, [renamed])
        return await existing(self._brain, key)

    async def compact(self, user_id: str, task_id: str, focus: str) -> CompactionEvent | None:
        """Show its model a shorter form of a task from now on; None when the turn that runs or waits will do it."""
        key = ThreadKey(user_id, task_id)
        return await requests.compact(self._services, self._live, key, await existing(self._brain, key), focus)

    async def undo(self, user_id: str, task_id: str, turn_id: str | None, force: bool) -> FilesRestored:
        """Take back what a turn did to files, unless a turn runs or waits that may rely on them."""
        key = ThreadKey(user_id, task_id)
        thread = await existing(self._brain, key)
        if key in self._live or thread.status != "idle":
            raise EngineError(
                ErrorCode.TASK_BUSY, "A turn of this task runs or waits. Cancel it first.", {"task_id": task_id}
            )
        return await undo.undo(self._services, key, turn_id, force)

    async def delete(self, user_id: str, task_id: str) -> None:
        """Delete a task and all that belongs to it, unless a turn of it runs or waits."""
        key = ThreadKey(user_id, task_id)
        thread = await existing(self._brain, key)
        if thread.status == "idle" and key not in self._live:
            await self._services.background.stop(key, "the task was deleted")
            for child in await self._services.offspring.discard(key):
                if await self._brain.thread(child) is not None:
                    await self.delete(*child)
        status = "running" if key in self._live else await self._brain.delete_thread(key)
        if status in ("running", "suspended"):
            raise EngineError(
                ErrorCode.TASK_BUSY, "A turn of this task runs or waits. Cancel it first.", {"task_id": task_id}
            )
        self._services.history.forget(key)
        self._services.places.forget(key)
        self._services.skills.changed(user_id)
        await self._services.journal.tear_out(key)
        await ingestion.tear_out(self._services.memory, key)
        self._services.background.untold.pop(key, None)
        self._services.offspring.untold.pop(key, None)
        await self._services.workspaces.discard(user_id, task_id)
