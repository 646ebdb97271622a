"""Whether anything is remembered of a user at all, and as whom they know the agent: asked by every turn, so kept in
memory.

What is kept is never older than what was written: a change that comes while a user is being looked up wins.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from aster.brain.memory_kinds import SEARCHED, Store
from aster.brain.memory_protocol import MemoryStore
from aster.brain.memory_records import MemoryRow

MOST_USERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Known:
    """`stores` are those that hold something and can be searched; `soul` is the newest version of the user's own, None
    while the shipped one holds; `notes`: some task may have working memory; `only_task`: everything comes from it."""

    stores: tuple[Store, ...] = ()
    soul: MemoryRow | None = None
    notes: bool = False
    only_task: str | None = None

    @property
    def anything(self) -> bool:
        return bool(self.stores) or self.soul is not None or self.notes

    def beyond(self, task_id: str) -> bool:
        """Whether there may be anything that the conversation of this task does not hold itself."""
        return bool(self.stores) and (self.stores != ("episodes",) or self.only_task != task_id)


class Acquaintance:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._known: dict[str, Known] = {}
        self._noted: set[str] = set()
        self._changes = 0

    async def of(self, user_id: str) -> Known:
        known = self._known.get(user_id)
        return known if known is not None else await self._look(user_id)

    def wrote(self, user_id: str, rows: Collection[MemoryRow]) -> None:
        """These records were written; only the first of a store or of a second task, and a soul, change what is kept
        here."""
        known = self._known.get(user_id)
        held = {row.store for row in rows}
        if "working" in held:
            self._noted.add(user_id)
        if known is None or not held <= {*known.stores, "working"} or ("working" in held and not known.notes):
            self.drop(user_id)
        elif known.only_task and not all(row.task_id == known.only_task for row in rows):
            self._known[user_id] = replace(known, only_task=None)

    def drop(self, user_id: str) -> None:
        """Look this user up anew when they next come."""
        self._changes += 1
        self._known.pop(user_id, None)

    def drop_all(self) -> None:
        """Look everybody up anew."""
        self._changes += 1
        self._known.clear()

    async def _look(self, user_id: str) -> Known:
        before = self._changes
        held = await self._store.held(user_id)
        searched: tuple[Store, ...] = tuple(store for store in SEARCHED if store in held.stores)
        known = Known(searched, held.soul, "working" in held.stores, held.only_task)
        if user_id in self._noted and not known.notes:
            known = replace(known, notes=True)
        if before == self._changes:
            if len(self._known) >= MOST_USERS:
                self._known.clear()
                self._noted.clear()
            self._known[user_id] = known
        return known
