"""Money set aside for calls under way: from before a call until what it used is durable.

Holds are in the brain, under a lock on the user's purse, so calls side by side cannot overrun a budget together,
whichever replicas make them. A hold is renewed while its call runs; one whose replica died expires, or goes when
another replica takes up the turn it was for.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from aster.brain.holds import Cap, HoldRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.events import Event
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

log = logging.getLogger("aster.budgets")

HOLD_SECONDS: Final = 60.0
RENEW_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 1.0
"""Who waits for money looks again so often, in case nobody said that there is some."""


class Account:
    """One user's calls here. `door` is held by whoever decides; `freed` is set when something may fit now."""

    def __init__(self) -> None:
        self.door = asyncio.Lock()
        self.freed = asyncio.Event()

    async def wait(self) -> None:
        """Until something may have changed."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self.freed.wait()
        except TimeoutError:
            return


class Holding:
    """The holds of this replica."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._accounts: WeakValueDictionary[str, Account] = WeakValueDictionary()
        self._held: dict[str, HoldRow] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Where nobody else has the brain open, nothing is under way yet."""
        if not self._brain.shared:
            await self._brain.drop_holds(None)

    async def close(self) -> None:
        """Renew nothing any more."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    def account(self, user_id: str) -> Account:
        account = self._accounts.get(user_id)
        if account is None:
            account = self._accounts[user_id] = Account()
        return account

    def look_again(self, user_id: str | None = None) -> None:
        """A limit was changed, or money has come back: whoever waits may fit now."""
        for name, account in list(self._accounts.items()):
            if user_id in (None, name):
                account.freed.set()

    async def hold(
        self, home: ThreadKey, turn_id: str, usd: float, caps: Sequence[Cap], since: int
    ) -> HoldRow | None:
        """Set money aside for a call; None when it does not fit under the caps."""
        now = now_ms()
        row = HoldRow(
            hold_id=new_id("hold"),
            user_id=home.user_id,
            task_id=home.task_id,
            turn_id=turn_id,
            owner=self._brain.replica,
            usd=usd,
            expires_at=now + round(HOLD_SECONDS * 1000),
        )
        setting = asyncio.ensure_future(self._brain.hold(row, caps, since, now))
        try:
            held = await asyncio.shield(setting)
        except asyncio.CancelledError:
            setting.add_done_callback(lambda _: self.release(row))
            raise
        if not held:
            return None
        self._held[row.hold_id] = row
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(), name="budget holds")
        return row

    def release(self, row: HoldRow) -> None:
        """The call is over and what it used is durable."""
        self._held.pop(row.hold_id, None)
        account = self.account(row.user_id)

        def over(done: "asyncio.Future[list[Event]]") -> None:
            account.freed.set()
            if not done.cancelled() and (error := done.exception()) is not None:
                log.warning("money set aside comes back when its time is over: %s", error)

        self._brain.put(msgspec.structs.replace(row, usd=0.0, expires_at=0)).add_done_callback(over)

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._brain.renew_holds(list(self._held), now_ms() + round(HOLD_SECONDS * 1000))
            except Exception:  # whatever keeps it from being renewed now must not keep it from being renewed later
                log.exception("what is set aside for calls under way could not be renewed")
