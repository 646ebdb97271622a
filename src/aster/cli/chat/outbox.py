"""Messages handed in while a turn runs: one after the other, each exactly once, without holding up what is shown."""

import asyncio
from contextlib import aclosing

from aster.cli.chat.manner import Manner
from aster.cli.screen.clean import one_line
from aster.cli.screen.screen import Surface
from aster.client import AsterClient
from aster.client.records import OnBusy
from aster.contracts.errors import EngineError


class Outbox:
    """For one task, for as long as it is watched."""

    def __init__(self, client: AsterClient, task_id: str, manner: Manner, surface: Surface) -> None:
        self._client = client
        self._task_id = task_id
        self._manner = manner
        self._surface = surface
        self._last: asyncio.Task[None] | None = None

    @property
    def used(self) -> bool:
        """Whether anything was handed in, so that the task may have more to do than the turn that was watched."""
        return self._last is not None

    def hand_in(self, text: str, on_busy: OnBusy) -> None:
        self._last = asyncio.create_task(self._send(text, on_busy, self._last))

    async def settle(self) -> None:
        """Wait until all of it has arrived."""
        if self._last is not None:
            await self._last

    async def _send(self, text: str, on_busy: OnBusy, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await before
        try:
            sending = self._manner.execute(self._client, text, self._task_id, on_busy=on_busy)
            async with aclosing(sending) as events:
                await anext(events, None)
        except EngineError as error:
            self._surface.notice(f"! {error.message} Not sent: {one_line(text, 200)}")
