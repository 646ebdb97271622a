"""A chat: read a line, run a command or a turn, and again, until the person leaves.

The session holds the task and its transcript and nothing that is not on the thread, so leaving and coming back with
`--task`, or from another machine, shows the same.
"""

import argparse
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from rich.console import Console

from aster.cli.chat import commands
from aster.cli.chat.keyboard import Editor, Keyboard, Lines
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.questions import Reply, hint, put, understand
from aster.cli.screen.plain import PlainSurface
from aster.cli.screen.screen import Screen, Surface
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.turn_view import Ending, TurnView
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest, Phase
from aster.contracts.permissions import PermissionMode
from aster.infra.ids import new_id
from aster.infra.settings import load

SHOWN_ITEMS = 20
AWAY_SECONDS = 10.0
_TAKEN = (ErrorCode.HITL_REQUIRED, ErrorCode.TOOL_IN_DOUBT, ErrorCode.TASK_BUSY)


class Session:
    """One person, one engine, one task at a time."""

    def __init__(
        self,
        client: AsterClient,
        surface: Surface,
        keyboard: Keyboard,
        task_id: str,
        mode: PermissionMode | None = None,
        agent: str | None = None,
    ) -> None:
        self.client = client
        self.surface = surface
        self.keyboard = keyboard
        self.task_id = task_id
        self.mode: PermissionMode | None = mode
        self.agent: str | None = agent
        self.transcript = Transcript()
        self._screen = Screen(surface)
        self._interrupts = 0
        self._left: Exit | None = None

    async def run(self) -> int:
        """Talk until the person leaves."""
        while self._left is None:
            try:
                line = await self.keyboard.message("> ")
            except EOFError:
                break
            except KeyboardInterrupt:
                self._interrupts += 1
                if self._interrupts > 1:
                    return Exit.CANCELLED
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
        if line.startswith("/"):
            return await commands.obey(self, line)
        if line.strip():
            await self.say(line)
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

    async def say(self, message: str) -> None:
        """Post a message and show the turn; a task that is taken is shown instead."""
        self._screen.begin(self.transcript)
        try:
            turn = self.client.execute(message, self.task_id, permission_mode=self.mode, agent=self.agent)
            await self._watch(turn)
        except EngineError as error:
            if error.code not in _TAKEN:
                raise
            self.surface.notice(f"! {error.message} Your message was not sent.")
            await self.open(self.task_id)

    async def _watch(self, stream: AsyncGenerator[ThreadEvent]) -> None:
        view = TurnView(self.client, self.task_id, self.transcript, self, self._screen)
        with self.keyboard.quiet():
            ending = await view.watch(stream)
        match ending:
            case Ending.ENDED:
                self._tell_end()
            case Ending.LEFT | Ending.UNANSWERED:
                self._left = Exit.CANCELLED if ending is Ending.LEFT else Exit.NEEDS_HUMAN
                self.surface.notice(f"The task stays as it is. Come back with: aster chat --task {self.task_id}")

    async def ask(self, request: HitlRequest) -> Reply | None:
        """Put a question until there is an answer; None when there will be none."""
        self.surface.show(put(request))
        while True:
            try:
                reply = understand(request, await self.keyboard.answer(hint(request)))
            except EOFError:
                return None
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


async def chat(args: argparse.Namespace) -> int:
    """Talk to the engine that the arguments name."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    surface = TerminalSurface(Console()) if terminal else PlainSurface(sys.stdout)

    async with connected(args, may_start=True, on_wait=Away(surface)) as client:
        task_id: str = args.task or new_id("task")
        keyboard = Editor(_history(), lambda: f" {session.task_id} · {client.url} · /help") if terminal else Lines()
        session = Session(client, surface, keyboard, task_id, args.mode, args.agent)
        surface.notice(await _greeting(client))
        surface.notice(f"Task {task_id}. /help lists the commands.")
        if args.task:
            await session.open(task_id)
        return await session.run()


class Away:
    """Says that the engine is away, now and then, for as long as it is."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._said = float("-inf")

    def __call__(self, error: EngineError | None, delay: float) -> None:
        away = error is not None or delay >= 1
        if away and time.monotonic() > self._said + AWAY_SECONDS:
            self._said = time.monotonic()
            self._surface.notice("(the engine is away; looking for it again)")


async def _greeting(client: AsterClient) -> str:
    health = await client.health()
    model = health.subsystems.get("llm", {})
    if model.get("provider") == "demo":
        return f"Aster {health.version}: no model is configured, a script answers (`aster serve --help`)."
    small = f" ({note})" if (note := model.get("note")) else ""
    return f"Aster {health.version}, model {model.get('model', 'unknown')}{small}."


def _history() -> Path:
    return load().data_dir / "chat-history"
