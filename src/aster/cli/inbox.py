"""`aster inbox`: everything that waits for a person, over all tasks, and answering it.

On a terminal a question is picked by its number in the list that is on the screen; a program names the request by
its id, because a number could mean another question by the time the answer arrives.
"""

import argparse
import asyncio
import sys

from aster.cli import hangup
from aster.cli.chat.choosing import WORD_SECONDS, choose
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.questions import LASTING, asked, hint, key_hint, keys, put, understand
from aster.cli.screen.clean import clean, one_line
from aster.cli.screen.diffs import change
from aster.client import AsterClient, EngineUnreachable
from aster.client.records import PendingRequest
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode

LOOK_SECONDS = 1.0


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    as_json: bool = getattr(args, "json", False)
    async with connected(args) as client:
        if args.action == "answer":
            return await _answer(client, args, as_json)
        if args.watch:
            return await _watch(client, args.task, as_json)
        waiting = await client.pending(args.task)
        if as_json:
            print(encode({"pending": waiting}).decode())
            return Exit.OK
        _print(waiting)
        if waiting and sys.stdin.isatty() and sys.stdout.isatty():
            return await _pick(client, args.task, waiting)
    return Exit.OK


def _print(waiting: tuple[PendingRequest, ...]) -> None:
    for number, request in enumerate(waiting, 1):
        _print_one(request, f"{number}. ")
    if not waiting:
        print("Nothing waits for you.")


def _print_one(request: PendingRequest, lead: str) -> None:
    about = f"{one_line(request.task_id, 80)}, {request.kind}, {request.created_at[:19].replace('T', ' ')}"
    print(f"{lead}{about}, {request.request_id}")
    lines = put(asked(request)).split("\n")
    lines += [f"  {line.sign} {line.text}" for line in change(request.tool or "", request.input)]
    if request.reason and request.reason not in request.question:
        lines.append(f"  because {one_line(request.reason, 400)}")
    print("\n".join(f"   {line}" for line in lines), flush=True)


async def _pick(client: AsterClient, task: str | None, waiting: tuple[PendingRequest, ...]) -> int:
    """Answer one after the other, by number, until the person has had enough."""
    while waiting:
        numbers = {str(number): str(number) for number in range(1, min(len(waiting), 9) + 1)}
        pause = 0.0 if len(waiting) < 10 else WORD_SECONDS
        try:
            line = await choose("Which? (its number, q leaves) ", "number: ", {**numbers, "q": "q"}, pause=pause)
            if line == "q":
                return Exit.OK
            if not line.isdecimal() or not 1 <= int(line) <= len(waiting):
                print(f"There is no {one_line(line, 20)}; there are 1 to {len(waiting)}.")
                continue
            request = waiting[int(line) - 1]
            question = asked(request)
            said = await choose(key_hint(question), hint(question), keys(question), entered=LASTING)
        except (EOFError, KeyboardInterrupt):
            return Exit.OK
        try:
            print(await _respond(client, request, said))
        except EngineError as error:
            print(f"! {clean(error.message)}")
            if error.code is ErrorCode.INVALID_REQUEST:
                continue
        waiting = await client.pending(task)
        _print(waiting)
    return Exit.OK


async def _answer(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    waiting = await client.pending()
    found = [request for request in waiting if request.request_id == args.request]
    if not found:
        raise EngineError(ErrorCode.HITL_NOT_PENDING, f"{args.request} does not wait for an answer (any more).")
    said = await _respond(client, found[0], " ".join(args.answer))
    print(encode({"request_id": found[0].request_id, "status": "answered"}).decode() if as_json else said)
    return Exit.OK


async def _respond(client: AsterClient, request: PendingRequest, line: str) -> str:
    """Hand in what a line means; a line that means nothing here is refused with what would."""
    reply = understand(asked(request), line)
    if reply is None:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"That is no answer here. {hint(asked(request)).rstrip(': ')}."
        )
    await client.respond(
        reply.answer,
        request_id=request.request_id,
        feedback=reply.feedback,
        expires_in_seconds=reply.expires_in_seconds,
    )
    return f"Answered {request.request_id}: {one_line(reply.answer, 200)}"


async def _watch(client: AsterClient, task: str | None, as_json: bool) -> int:
    """Say what begins to wait and what no longer does, for as long as it is looked on."""
    known: dict[str, PendingRequest] = {}
    while True:
        try:
            waiting = {request.request_id: request for request in await client.pending(task)}
        except EngineError as error:
            if not isinstance(error, EngineUnreachable) and error.code is not ErrorCode.DRAINING:
                raise
            waiting = known
        for request_id, request in waiting.items():
            if request_id not in known:
                _tell_new(request, as_json)
        for request_id in known.keys() - waiting.keys():
            line = (
                encode({"event": "gone", "request_id": request_id}).decode() if as_json else f"gone: {request_id}"
            )
            print(line, flush=True)
        known = waiting
        await asyncio.sleep(LOOK_SECONDS)


def _tell_new(request: PendingRequest, as_json: bool) -> None:
    if as_json:
        print(encode({"event": "waiting", "request": request}).decode(), flush=True)
        return
    bell = "\a" if sys.stdout.isatty() else ""
    _print_one(request, f"{bell}waiting: ")
