"""What other replicas have changed: whatever this one keeps in memory of it is dropped or read again.

Nothing kept in memory is the truth. A hint says which threads and tables were written to elsewhere; what is cheap to
read is forgotten at once, the rest is read anew behind it, one reading at a time, again when another hint comes
meanwhile, and until it succeeds.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from aster.brain.changes import Change
from aster.brain.records import ThreadKey
from aster.engine_core.services import Services

log = logging.getLogger("aster.elsewhere")

AGAIN_SECONDS: Final = 1.0
REST_SECONDS: Final = 0.05
"""Hints that follow each other closely are one reading."""

MOST_THREADS: Final = 10_000
"""Threads noted as perhaps having news before the brain is asked which really have."""


class Reading:
    """Reads something again whenever it is asked for."""

    def __init__(self, name: str, read: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._read = read
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def ask(self) -> None:
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"read again: {self._name}")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                await self._read()
                await asyncio.sleep(REST_SECONDS)
            except Exception:  # whatever keeps it from being read now must not leave it as it was for good
                log.exception("%s could not be read again", self._name)
                self._wanted = True
                await asyncio.sleep(AGAIN_SECONDS)


class Elsewhere:
    """Keeps one replica in step with the others, from `start` to `close`; `catalog` reads the catalog again if that was
    asked for elsewhere."""

    def __init__(self, services: Services, catalog: Callable[[], Awaitable[object]]) -> None:
        self._services = services
        brain, background = services.brain, services.background
        self._readings: dict[tuple[str, ...], Reading] = {
            ("budgets",): Reading("budgets", services.budgets.load),
            ("connections", "server_registry", "action_registry"): Reading(
                "connections", services.connectors.directory.look_again
            ),
            ("quota_windows",): Reading("limits of providers", self._restore_quotas),
            ("marks",): Reading("the catalog", catalog),
            ("background_tasks",): Reading("background commands", background.look_again),
        }
        self._calls = Reading("calls to servers", self._leave_calls)
        self._untold: dict[str, tuple[Counter[ThreadKey], Reading]] = {}
        for table, kept, read in (
            ("background_tasks", background.untold, brain.background_untold_threads),
            ("subagents", services.offspring.untold, brain.subagents_untold_threads),
            ("corrections", services.corrections.due, self._correction_threads),
        ):
            self._untold[table] = kept, Reading(f"news of {table}", _filling(kept, read))
        self._unwatch: Callable[[], None] | None = None

    def start(self) -> None:
        self._unwatch = self._services.brain.changes.watch(self._hear)

    async def close(self) -> None:
        if self._unwatch is not None:
            self._unwatch()
        for reading in (self._calls, *self._readings.values(), *(reading for _, reading in self._untold.values())):
            await reading.close()

    def _hear(self, change: Change) -> None:
        self._forget(change)
        for tables, reading in self._readings.items():
            if change.touches(*tables):
                reading.ask()
        calling = self._services.connectors.directory.calling
        if change.everything or any(calling(user_id) for user_id in {key.user_id for key in change.threads}):
            self._calls.ask()
        for table, (kept, reading) in self._untold.items():
            if not change.touches(table):
                continue
            kept.update(change.threads)
            if change.everything or len(kept) > MOST_THREADS:
                reading.ask()

    def _forget(self, change: Change) -> None:
        services = self._services
        caches = services.history, services.prompts, services.places
        for cache in caches:
            if change.everything:
                cache.clear()
            else:
                for key in change.threads:
                    cache.forget(key)
        if change.touches("skills"):
            services.skills.look_again()
        if change.touches("agents"):
            services.agents.look_again()
        if change.touches("background_tasks", "background_output"):
            services.background.elsewhere.tell()
        if change.touches("budget_holds", "usage"):
            services.budgets.holding.look_again()

    async def _leave_calls(self) -> None:
        """A call that waits here for an answer is nobody's once its turn goes on elsewhere, or has ended."""
        brain, directory = self._services.brain, self._services.connectors.directory
        for user_id, turn_id in directory.calling():
            turn = await brain.turn(user_id, turn_id)
            if turn is None or turn.ended_at is not None or turn.owner not in (None, brain.replica):
                await directory.abandon(user_id, f"{turn_id}:")

    async def _restore_quotas(self) -> None:
        self._services.herald.restore(await self._services.brain.quota_windows())

    async def _correction_threads(self) -> list[ThreadKey]:
        return await self._services.brain.correction_threads(self._services.now())


def _filling(
    kept: Counter[ThreadKey], read: Callable[[], Awaitable[list[ThreadKey]]]
) -> Callable[[], Awaitable[None]]:
    """Note the threads that have news, and no others; what is noted meanwhile stays."""

    async def fill() -> None:
        before = Counter(kept)
        found = await read()
        for key, count in before.items():
            if kept.get(key) == count:
                del kept[key]
        kept.update(found)

    return fill
