"""A chat: read a line, run a command or a turn, and again, until the person leaves.

The session holds the task and its transcript and nothing that is not on the thread, so leaving and coming back with
`--resume`, or from another machine, shows the same.
"""

import asyncio
from collections.abc import AsyncGenerator

from aster.cli.chat import commands
from aster.cli.chat.draft import Draft, Stroke
from aster.cli.chat.keyboard import Keyboard
from aster.cli.chat.manner import Manner
from aster.cli.chat.outbox import Outbox
from aster.cli.exits import Exit
from aster.cli.questions import LASTING, Reply, hint, key_hint, keys, understand
from aster.cli.screen.screen import Screen, Surface
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.turn_view import Ending, TurnView
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.client.records import OnBusy
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest, Phase

SHOWN_ITEMS = 20
_TAKEN = (ErrorCode.HITL_REQUIRED, ErrorCode.TOOL_IN_DOUBT, ErrorCode.TASK_BUSY)
_BETWEEN_TURNS = 0.1


class Session:
    """One person, one engine, one task at a time."""

    def __init__(
        self, client: AsterClient, surface: Surface, keyboard: Keyboard, task_id: str, manner: Manner
    ) -> None:
        self.client = client
        self.surface = surface
        self.keyboard = keyboard
        self.task_id = task_id
        self.manner = manner
        self.transcript = Transcript()
        self.listed: tuple[str, ...] = ()
        """The tasks that were listed last; they can be called by their number."""
        self.edits: str | None = None
        """The message that the next one takes the place of."""
        self.draft = ""
        """What stands in the next prompt already."""
        self._screen = Screen(surface)
        self._interrupts = 0
        self._left: Exit | None = None
        self._view: TurnView | None = None
        self._typing: Draft | None = None
        self._outbox: Outbox | None = None

    async def run(self) -> int:
        """Talk until the person leaves."""
        while self._left is None:
            draft, self.draft = self.draft, ""
            try:
                line = await self.keyboard.message("> ", draft)
            except EOFError:
                break
            except KeyboardInterrupt:
                self._interrupts += 1
                if self._interrupts > 1:
                    return Exit.CANCELLED
                self.edits = None
                self.surface.notice("Ctrl-C again leaves; /help says what else there is.")
                continue
            self._interrupts = 0
            try:
                if not await self._take(line):
                    break
            except EngineError as error:
                self.surface.notice(f"! {error.message}")
        return Exit.OK if self._left is None else self._left

    async def _take(self, line: str) -> bool:
        if line.startswith("/") and self.edits is None:
            return await commands.obey(self, line)
        edits, self.edits = self.edits, None
        if line.strip():
            await self.say(line, edits=edits)
        return True

    def begin(self, task_id: str) -> None:
        """Go to a task that does not exist yet."""
        self.task_id = task_id
        self.transcript = Transcript()

    async def open(self, task_id: str) -> None:
        """Go to a task: show where it stands, and follow what runs in it."""
        transcript = Transcript()
        try:
            async for event in self.client.thread(task_id):
                transcript.apply(event)
        except EngineError as error:
            if error.code is not ErrorCode.TASK_NOT_FOUND:
                raise
            self.begin(task_id)
            return
        self.task_id, self.transcript = task_id, transcript
        self._screen.catch_up(transcript, SHOWN_ITEMS)
        if transcript.running:
            await self._watch(self.client.replay(task_id, transcript.seq))

    async def say(self, message: str, *, edits: str | None = None, retries: str | None = None) -> None:
        """Post a message and show the turn; a task that is taken is shown instead."""
        self._screen.begin(self.transcript, typed=1)
        try:
            turn = self.manner.execute(self.client, message, self.task_id, edits=edits, retries=retries)
            await self._watch(turn)
        except EngineError as error:
            if error.code not in _TAKEN:
                raise
            self.surface.notice(f"! {error.message} Your message was not sent.")
            await self.open(self.task_id)

    async def _watch(self, stream: AsyncGenerator[ThreadEvent]) -> None:
        """Show a turn, and those of the messages that were handed in meanwhile."""
        outbox = self._outbox = Outbox(self.client, self.task_id, self.manner, self.surface)
        with self.keyboard.live(self._act) as self._typing:
            self._show_draft()
            try:
                ending = await self._turn(stream)
                while ending is Ending.ENDED and outbox.used and await self._goes_on(outbox):
                    ending = await self._turn(self.client.replay(self.task_id, self.transcript.seq))
            finally:
                self._keep_draft()
        if ending is not Ending.ENDED:
            self._left = Exit.CANCELLED if ending is Ending.LEFT else Exit.NEEDS_HUMAN
            self.surface.notice(f"The task stays as it is. Come back with: aster chat --resume {self.task_id}")

    async def _turn(self, stream: AsyncGenerator[ThreadEvent]) -> Ending:
        before = self.transcript.seq
        self._view = TurnView(self.client, self.task_id, self.transcript, self, self._screen)
        ending = await self._view.watch(stream)
        if ending is Ending.ENDED and self.transcript.seq > before:
            self._tell_end()
        return ending

    async def _goes_on(self, outbox: Outbox) -> bool:
        """Whether the task has more to do: a turn of a message that was handed in."""
        await outbox.settle()
        task = await self.client.task(self.task_id)
        if task.active_turn_id is None and task.inbox:
            await asyncio.sleep(_BETWEEN_TURNS)
        return task.active_turn_id is not None or bool(task.inbox) or task.head_seq > self.transcript.seq

    def _act(self, stroke: Stroke) -> None:
        match stroke:
            case Stroke.STOP if self._view is not None:
                self._view.interrupt()
            case Stroke.FOLD if isinstance(self.surface, TerminalSurface):
                self.surface.fold()
            case Stroke.STEER:
                self._hand_in("steer")
            case Stroke.QUEUE:
                self._hand_in("queue")
            case _:
                pass

    def _hand_in(self, on_busy: OnBusy) -> None:
        if self._typing is None or self._outbox is None or not self._typing.text.strip():
            return
        if self._typing.text.startswith("/"):
            self.surface.notice("Commands wait until the turn is over; Ctrl-C stops it.")
            return
        self._outbox.hand_in(self._typing.take(), on_busy)

    def _show_draft(self) -> None:
        if isinstance(self.surface, TerminalSurface) and self._typing is not None:
            typing = self._typing
            self.surface.draft = lambda: typing.text

    def _keep_draft(self) -> None:
        """What was not handed in stands in the next prompt."""
        if self._typing is not None:
            self.draft = self._typing.take()
        if isinstance(self.surface, TerminalSurface):
            self.surface.draft = None

    async def ask(self, request: HitlRequest) -> Reply | None:
        """Put a question until there is an answer; None when there will be none."""
        if self._typing is not None:
            await self._typing.still()
        self.surface.question(request)
        if self._typing is not None:
            await self._typing.seen()
        while True:
            try:
                line = await self.keyboard.choice(key_hint(request), hint(request), keys(request), LASTING)
            except EOFError:
                return None
            reply = understand(request, line)
            if reply is not None:
                return reply

    def _tell_end(self) -> None:
        transcript = self.transcript
        match transcript.phase:
            case Phase.ERRORED:
                reason = transcript.error.message if transcript.error else transcript.stop_reason
                self.surface.notice(f"! The turn failed: {reason}")
            case Phase.CANCELLED:
                self.surface.notice("cancelled")
            case Phase.COMPLETED if transcript.stop_reason not in (None, "end_turn", "stop_sequence"):
                self.surface.notice(f"(stopped: {transcript.stop_reason})")
            case _:
                pass
