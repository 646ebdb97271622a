"""`aster chat` from its arguments: which surface, which keyboard, which task, and a greeting."""

import argparse
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from aster.cli.chat.completing import Completing
from aster.cli.chat.keyboard import Editor, Lines
from aster.cli.chat.manner import Manner
from aster.cli.chat.session import Session
from aster.cli.chat.taste import chosen_theme
from aster.cli.connection import connected
from aster.cli.screen.cards import whole
from aster.cli.screen.plain import PlainSurface
from aster.cli.screen.screen import Surface
from aster.cli.screen.terminal import TerminalSurface
from aster.client import AsterClient
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.ids import new_id
from aster.infra.settings import load

AWAY_SECONDS = 10.0
NEWEST = ""
"""What `--resume` without a task means."""


async def chat(args: argparse.Namespace) -> int:
    """Talk to the engine that the arguments name."""
    data = load().data_dir
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    able = terminal and os.environ.get("TERM", "") not in ("", "dumb")
    surface = TerminalSurface(Console(), chosen_theme(args.theme, data)) if able else PlainSurface(sys.stdout)

    async with connected(args, may_start=True, on_wait=Away(surface)) as client:
        wanted: str | None = args.task if args.resume is None else args.resume
        task_id = await _newest(client) if wanted == NEWEST else wanted or new_id("task")
        lines = Lines(sys.stdout if terminal else None)
        session = Session(client, surface, lines, task_id, Manner(args.mode, args.agent))
        surface.notice(await _greeting(client))
        surface.notice(f"Task {task_id}. /help lists the commands.")
        with ExitStack() as stack:
            if able:
                session.keyboard = editor = _editor(session, data)
                stack.enter_context(editor.held())
            if wanted is not None:
                await session.open(task_id)
            return await session.run()


def _editor(session: Session, data: Path) -> Editor:
    def status() -> str:
        manner = session.manner
        chosen = [word for word in (manner.agent, manner.model, manner.mode) if word]
        cost = [f"${session.transcript.cost_usd:.2f}"] if session.transcript.cost_usd else []
        return " " + " · ".join([session.task_id, *chosen, *cost, session.client.url, "/help"])

    def unfold() -> None:
        cards = session.transcript.cards
        session.surface.show(whole(cards[-1]) if cards else "No tool has been called in this task.")

    return Editor(data / "chat-history", status, Completing(session), unfold)


async def _newest(client: AsterClient) -> str:
    page = await client.tasks(limit=1)
    if not page.tasks:
        raise EngineError(ErrorCode.TASK_NOT_FOUND, "There is no task to go on with; `aster chat` begins one.")
    return page.tasks[0].task_id


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
