"""A turn, watched by a person: events folded and shown, questions put, Ctrl-C obeyed.

The first Ctrl-C cancels the turn and the view stays until its end is on the thread; the second leaves at once, and
the engine carries on alone. Leaving never loses anything: the thread can be taken up again.
"""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from enum import Enum, auto
from typing import Protocol

from aster.cli.questions import Reply
from aster.cli.screen.screen import Screen
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest, HitlResolved, Phase, ThreadLifecycle

_FRAME_SECONDS = 0.08
_RESEND_SECONDS = 0.5


class Ending(Enum):
    """How the watching ended: with the turn, or before it."""

    ENDED = auto()
    LEFT = auto()
    UNANSWERED = auto()


class Asker(Protocol):
    """Who answers questions; None when nobody does."""

    async def ask(self, request: HitlRequest) -> Reply | None: ...


class TurnView:
    """Watches one turn of one task."""

    def __init__(
        self,
        client: AsterClient,
        task_id: str,
        transcript: Transcript,
        asker: Asker,
        screen: Screen | None = None,
        on_event: Callable[[ThreadEvent], None] | None = None,
        *,
        may_cancel: bool = True,
    ) -> None:
        self._client = client
        self._task_id = task_id
        self._transcript = transcript
        self._asker = asker
        self._screen = screen
        self._on_event = on_event
        self._interrupts = 0 if may_cancel else 1
        self._held = False
        self._unanswered = False
        self._ending: Ending | None = None
        self._asking: asyncio.Task[None] | None = None
        self._asked: str | None = None
        self._cancelling: asyncio.Task[None] | None = None

    async def watch(self, stream: AsyncGenerator[ThreadEvent]) -> Ending:
        """Watch until the turn ends, the person leaves, or a question finds nobody to answer it."""
        loop = asyncio.get_running_loop()
        self._reading = asyncio.create_task(self._read(stream))
        painting = asyncio.create_task(self._paint())
        loop.add_signal_handler(signal.SIGINT, self.interrupt)
        self._look_for_questions()
        try:
            return await self._reading
        except asyncio.CancelledError:
            if self._ending is None:
                raise
            return self._ending
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            for task in (painting, self._reading, self._asking, self._cancelling):
                if task is not None:
                    task.cancel()
            await asyncio.gather(painting, *filter(None, (self._asking,)), return_exceptions=True)
            if self._screen is not None:
                self._screen.end(self._transcript)

    async def _read(self, stream: AsyncGenerator[ThreadEvent]) -> Ending:
        async with aclosing(stream) as events:
            async for event in events:
                self._transcript.apply(event)
                if self._on_event is not None:
                    self._on_event(event)
                if isinstance(event, HitlResolved) and event.request_id == self._asked:
                    self._resolved_elsewhere()
                if isinstance(event, HitlRequest):
                    self._look_for_questions()
                if self._unanswered and isinstance(event, ThreadLifecycle) and event.phase is Phase.SUSPENDED:
                    return Ending.UNANSWERED
        return Ending.ENDED

    async def _paint(self) -> None:
        while True:
            if self._screen is not None and not self._held:
                self._screen.update(self._transcript)
            await asyncio.sleep(_FRAME_SECONDS)

    def _look_for_questions(self) -> None:
        if self._transcript.pending and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        while self._transcript.pending and not self._unanswered:
            request = next(iter(self._transcript.pending.values()))
            self._hold()
            self._asked = request.request_id
            try:
                reply = await self._asker.ask(request)
            except KeyboardInterrupt:
                self.interrupt()
                return
            finally:
                self._held, self._asked = False, None
            if reply is None:
                self._leave_unanswered()
                return
            await self._respond(request, reply)

    async def _respond(self, request: HitlRequest, reply: Reply) -> None:
        """Hand in an answer, to the engine that comes back if need be; a second one does no harm."""
        while request.request_id in self._transcript.pending:
            try:
                await self._client.respond(
                    reply.answer,
                    request_id=request.request_id,
                    feedback=reply.feedback,
                    expires_in_seconds=reply.expires_in_seconds,
                )
            except EngineError as error:
                if error.code is ErrorCode.DRAINING:
                    await asyncio.sleep(_RESEND_SECONDS)
                    continue
                self._notice(error.message)
                if error.code is ErrorCode.INVALID_REQUEST:
                    return
            self._transcript.pending.pop(request.request_id, None)

    def _leave_unanswered(self) -> None:
        self._unanswered = True
        if self._transcript.phase is Phase.SUSPENDED:
            self._leave(Ending.UNANSWERED)

    def _resolved_elsewhere(self) -> None:
        if self._asking is not None:
            self._asking.add_done_callback(self._ask_the_next)
            self._asking.cancel()
        self._held = False
        self._notice("(answered elsewhere)")

    def _ask_the_next(self, asking: "asyncio.Task[None]") -> None:
        del asking
        if not self._reading.done():
            self._look_for_questions()

    def _hold(self) -> None:
        """Leave the terminal to the question."""
        self._held = True
        if self._screen is not None:
            self._screen.update(self._transcript)
            self._screen.surface.pause()

    def _notice(self, text: str) -> None:
        if self._screen is not None:
            self._screen.surface.notice(text)

    def interrupt(self) -> None:
        """Cancel the turn, or leave it when that was asked for already; who only watches leaves at once."""
        self._interrupts += 1
        if self._interrupts > 1:
            self._leave(Ending.LEFT)
            return
        self._notice("cancelling … (Ctrl-C again leaves at once)")
        self._cancelling = asyncio.create_task(self._cancel())

    def _leave(self, ending: Ending) -> None:
        self._ending = ending
        self._reading.cancel()

    async def _cancel(self) -> None:
        try:
            await self._client.cancel(self._task_id)
        except EngineError as error:
            if error.code is not ErrorCode.TASK_NOT_RUNNING:
                self._notice(error.message)
