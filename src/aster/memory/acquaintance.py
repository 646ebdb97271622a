"""Whether anything is remembered of a user at all, and as whom they know the agent: asked by every turn, so kept in
memory.

What is kept is never older than what was written: a change that comes while a user is being looked up wins.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aster.brain.memory_kinds import SEARCHED, Store
from aster.brain.memory_protocol import MemoryStore
from aster.brain.memory_records import MemoryRow

MOST_USERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Known:
    """`stores` are those that hold something and can be searched; `soul` is the newest version of the user's own, None
    while the shipped one holds."""

    stores: tuple[Store, ...] = ()
    soul: MemoryRow | None = None

    @property
    def anything(self) -> bool:
        return bool(self.stores) or self.soul is not None


class Acquaintance:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._known: dict[str, Known] = {}
        self._changes = 0

    async def of(self, user_id: str) -> Known:
        known = self._known.get(user_id)
        return known if known is not None else await self._look(user_id)

    def wrote(self, user_id: str, rows: Iterable[MemoryRow]) -> None:
        """These records were written; only the first of a store, and a soul, change what is kept here."""
        known = self._known.get(user_id)
        if known is None or not all(row.store in known.stores or row.store == "working" for row in rows):
            self.drop(user_id)

    def drop(self, user_id: str) -> None:
        """Look this user up anew when they next come."""
        self._changes += 1
        self._known.pop(user_id, None)

    async def _look(self, user_id: str) -> Known:
        before = self._changes
        known = Known()
        if await self._store.page(user_id, limit=1):
            souls = await self._store.soul(user_id)
            held: list[Store] = [s for s in SEARCHED if await self._store.page(user_id, limit=1, store=s)]
            known = Known(tuple(held), next(iter(souls), None))
        if before == self._changes:
            if len(self._known) >= MOST_USERS:
                self._known.clear()
            self._known[user_id] = known
        return known
