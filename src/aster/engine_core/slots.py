"""Slots: so many turns at a time in this process, and so many of one user.

Whoever waits for one gets it in the order of asking, except that nobody waits for a user who has all of theirs.
"""

import asyncio
from collections import Counter
from typing import NamedTuple

from aster.contracts.errors import EngineError, ErrorCode


class _Waiter(NamedTuple):
    user_id: str
    granted: "asyncio.Future[None]"


class Slots:
    """`per_user` is how many of them one user may have, 0 all of them."""

    def __init__(self, total: int, per_user: int = 0) -> None:
        self.total = total
        self.used = 0
        self._per_user = per_user
        self._users: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []

    def free(self, user_id: str) -> bool:
        """Whether there is one for this user now."""
        return self.used < self.total and not self.all_theirs(user_id)

    def all_theirs(self, user_id: str) -> bool:
        """Whether the user has as many as one user may."""
        return bool(self._per_user) and self._users[user_id] >= self._per_user

    def take(self, user_id: str) -> bool:
        """Take one if there is one; whoever took it gives it back."""
        if not self.free(user_id):
            return False
        self.used += 1
        self._users[user_id] += 1
        return True

    def give_back(self, user_id: str) -> None:
        """Hand it to whoever waits longest and may have it, or free it."""
        self.used -= 1
        self._users[user_id] -= 1
        if not self._users[user_id]:
            del self._users[user_id]
        for waiter in list(self._waiting):
            if waiter.granted.done():
                self._waiting.remove(waiter)
            elif self.take(waiter.user_id):
                self._waiting.remove(waiter)
                waiter.granted.set_result(None)
                return

    async def acquire(self, user_id: str) -> None:
        """Wait for one."""
        if self.take(user_id):
            return
        waiter = _Waiter(user_id, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        try:
            await waiter.granted
        except asyncio.CancelledError:
            if waiter.granted.done() and not waiter.granted.cancelled():
                self.give_back(user_id)
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            raise

    def refusal(self, user_id: str) -> EngineError:
        """What a client is told that found none."""
        if self._per_user and self.all_theirs(user_id):
            return too_many(self._per_user)
        return EngineError(
            ErrorCode.SLOTS_EXHAUSTED,
            "Every slot is running a turn. Try again in a moment.",
            {"slots": self.total},
            retry_after=1.0,
        )


def too_many(per_user: int) -> EngineError:
    """What a user is told who has as many turns as one user may."""
    return EngineError(
        ErrorCode.SLOTS_EXHAUSTED,
        f"{per_user} of your turns run already, which is as many as one user may have. Wait until one ends.",
        {"user_slots": per_user},
        retry_after=1.0,
    )
