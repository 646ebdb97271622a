"""`aster watch`: follow a task as it happens, without being part of it.

Nothing that is done here changes the task: Ctrl-C ends the watching alone, and questions are shown with how to
answer them. An engine that goes away is waited for, and what it did meanwhile is shown once.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

from rich.console import Console

from aster.cli import hangup
from aster.cli.chat.opening import Away
from aster.cli.chat.taste import chosen_theme
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.questions import Reply
from aster.cli.screen.plain import PlainSurface
from aster.cli.screen.screen import Screen, Surface
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.turn_view import Ending, TurnView
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.contracts.events import HitlRequest, Phase, UnknownEvent
from aster.contracts.model import encode
from aster.infra.settings import load

SHOWN_ITEMS = 20
_BETWEEN_TURNS = 0.2


def command(args: argparse.Namespace) -> int:
    return hangup.run(_watch(args))


async def _watch(args: argparse.Namespace) -> int:
    as_json: bool = getattr(args, "json", False)
    surface = None if as_json else _surface(args)
    async with connected(args, on_wait=Away(surface) if surface is not None else None) as client:
        transcript, screen = Transcript(), Screen(surface) if surface is not None else None
        await client.task(args.task)
        after: int = args.after or 0
        if screen is not None:
            after = await _caught_up(client, args, screen, transcript)
        stream = _until_idle(client, args.task, after) if args.until_idle else client.watch(args.task, after)
        asker = Spectator(surface)
        view = TurnView(
            client, args.task, transcript, asker, screen, _print_event if as_json else None, may_cancel=False
        )
        if await view.watch(stream) is Ending.LEFT:
            return Exit.CANCELLED
        return Exit.FAILED if transcript.phase is Phase.ERRORED else Exit.OK


async def _caught_up(client: AsterClient, args: argparse.Namespace, screen: Screen, transcript: Transcript) -> int:
    """Read what is on the thread already and show the end of it, or all of it after `--from`."""
    shown_from: int | None = args.after
    async with aclosing(client.thread(args.task)) as thread:
        async for event in thread:
            if shown_from is not None and event.seq > shown_from:
                break
            transcript.apply(event)
    if shown_from is None:
        screen.catch_up(transcript, SHOWN_ITEMS)
    else:
        screen.begin(transcript)
    return transcript.seq


async def _until_idle(client: AsterClient, task_id: str, seq: int) -> AsyncGenerator[ThreadEvent]:
    """Everything after `seq` until no turn runs and none waits to."""
    while True:
        async with aclosing(client.replay(task_id, seq)) as events:
            async for event in events:
                seq = event.seq
                yield event
        task = await client.task(task_id)
        if task.active_turn_id is None and not task.inbox and task.head_seq <= seq:
            return
        await asyncio.sleep(_BETWEEN_TURNS)


class Spectator:
    """Sees the questions and answers none."""

    def __init__(self, surface: Surface | None) -> None:
        self._surface = surface

    async def ask(self, request: HitlRequest) -> Reply | None:
        if self._surface is not None:
            self._surface.question(request)
            self._surface.notice(f"(answer it with: aster inbox answer {request.request_id} …)")
        await asyncio.Event().wait()
        return None


def _surface(args: argparse.Namespace) -> Surface:
    if not sys.stdout.isatty() or os.environ.get("TERM", "") in ("", "dumb"):
        return PlainSurface(sys.stdout)
    surface = TerminalSurface(Console(), chosen_theme(args.theme, load().data_dir))
    surface.unfolded, surface.spectator = args.unfold, True
    return surface


def _print_event(event: ThreadEvent) -> None:
    print(event.raw if isinstance(event, UnknownEvent) else encode(event).decode(), flush=True)
