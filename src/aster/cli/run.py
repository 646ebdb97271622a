"""`aster run`: one message, one answer, and an exit code a script can act on.

On a terminal the turn is shown as it happens; in a pipe only the answer is printed, or with `--json` every event.
"""

import argparse
import asyncio
import shlex
import sys

from rich.console import Console

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.questions import Reply, put
from aster.cli.screen.clean import clean
from aster.cli.screen.screen import Screen
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.turn_view import Ending, TurnView
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.client.transcript import Note
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest, Phase, UnknownEvent
from aster.contracts.model import encode
from aster.infra.ids import new_id

_ASKS = (ErrorCode.HITL_REQUIRED, ErrorCode.TOOL_IN_DOUBT)


def command(args: argparse.Namespace) -> int:
    message: str = sys.stdin.read() if args.message == "-" else args.message
    if not message.strip():
        print("aster run: the message is empty.", file=sys.stderr)
        return Exit.USAGE
    return hangup.run(_run(args, message))


async def _run(args: argparse.Namespace, message: str) -> int:
    task_id: str = args.task or new_id("task")
    as_json: bool = getattr(args, "json", False)
    transcript = Transcript()
    screen = None if as_json or not sys.stdout.isatty() else Screen(TerminalSurface(Console()))
    if screen is not None:
        screen.begin(transcript, typed=1)
    async with connected(args, may_start=True) as client:
        view = TurnView(
            client, task_id, transcript, Consent(args.consent), screen, _print_event if as_json else None
        )
        try:
            async with asyncio.timeout(args.timeout):
                turn = client.execute(message, task_id, permission_mode=args.mode, agent=args.agent)
                ending = await view.watch(turn)
        except TimeoutError:
            return await _timed_out(client, task_id, args.timeout)
        except EngineError as error:
            if error.code not in _ASKS:
                raise
            return _needs_human(task_id, error.message)
    if screen is not None:
        screen.surface.notice(f"Task {task_id}")
    elif not as_json:
        _print_plain(transcript)
    return _exit_code(ending, transcript, task_id)


class Consent:
    """Answers permissions the way `--yes` or `--no` says, and nothing else."""

    def __init__(self, answer: str | None) -> None:
        self._answer = answer

    async def ask(self, request: HitlRequest) -> Reply | None:
        return Reply(self._answer) if self._answer and request.kind == "permission" else None


def _print_plain(transcript: Transcript) -> None:
    """The answer alone, and beside it what the engine suggests to whoever reads that."""
    if transcript.answer():
        print(clean(transcript.answer()).rstrip("\n"))
    for item in transcript.items:
        if isinstance(item, Note) and item.about == "permission":
            print(f"aster run: {clean(item.text)}", file=sys.stderr)


def _print_event(event: ThreadEvent) -> None:
    line = event.raw if isinstance(event, UnknownEvent) else encode(event).decode()
    print(line, flush=True)


def _exit_code(ending: Ending, transcript: Transcript, task_id: str) -> int:
    if ending is Ending.UNANSWERED:
        return _needs_human(task_id, "\n".join(put(request) for request in transcript.pending.values()))
    if ending is Ending.LEFT or transcript.phase is Phase.CANCELLED:
        print(f"aster run: cancelled; the task is {task_id}.", file=sys.stderr)
        return Exit.CANCELLED
    if transcript.phase is Phase.COMPLETED:
        return Exit.OK
    reason = transcript.error.message if transcript.error else transcript.stop_reason or "the turn failed"
    print(f"aster run: {clean(reason)}", file=sys.stderr)
    return Exit.FAILED


def _needs_human(task_id: str, question: str) -> int:
    again = f"aster chat --resume {shlex.quote(task_id)}"
    print(f"{clean(question)}\n\nThe turn waits for an answer. Give it with: {again}", file=sys.stderr)
    return Exit.NEEDS_HUMAN


async def _timed_out(client: AsterClient, task_id: str, seconds: float) -> int:
    try:
        await client.cancel(task_id)
    except EngineError as error:
        if error.code is not ErrorCode.TASK_NOT_RUNNING:
            raise
    print(
        f"aster run: no answer within {seconds:g} s; the turn was cancelled. The task is {task_id}.",
        file=sys.stderr,
    )
    return Exit.FAILED
