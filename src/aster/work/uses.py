"""What of the work that outlives a turn a user has ever had: work on a board, teams, projects.

That somebody has had something never becomes untrue as long as anything of it is there, so it is remembered; what
nobody is known to have had is looked up each time, all of it with one question.
"""

from typing import Final, get_args

from aster.brain.work import Use, WorkStore

REMEMBERED: Final = 100_000
_ALL: Final = frozenset(get_args(Use))


class Uses:
    def __init__(self, store: WorkStore) -> None:
        self._store = store
        self._known: dict[str, frozenset[Use]] = {}

    async def of(self, user_id: str) -> frozenset[Use]:
        known = self.known(user_id)
        if known == _ALL:
            return known
        self.note(user_id, *await self._store.uses(user_id))
        return self.known(user_id)

    def known(self, user_id: str) -> frozenset[Use]:
        """What has been seen here, without looking it up."""
        return self._known.get(user_id, frozenset())

    def note(self, user_id: str, *used: Use) -> None:
        """The user has had these."""
        if not used:
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[user_id] = self.known(user_id).union(used)
