"""`aster tasks`: look at the engine's tasks and change them."""

import argparse
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from aster.cli import compacted, hangup
from aster.cli.connection import connected
from aster.cli.context import context
from aster.cli.exits import Exit
from aster.cli.screen.clean import clean, one_line
from aster.cli.summary import summary
from aster.cli.tables import console, print_table
from aster.client import AsterClient
from aster.client.records import TaskDetail, TaskSummary
from aster.client.whole_file import whole_file
from aster.contracts.events import UnknownEvent, type_of
from aster.contracts.model import encode

Work: TypeAlias = Callable[[AsterClient, argparse.Namespace, bool], Coroutine[Any, Any, None]]


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        await _WORK[args.action or "list"](client, args, getattr(args, "json", False))
    return Exit.OK


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.tasks(limit=args.limit, status=args.status, search=args.search)
    if as_json:
        _json(page)
        return
    if not page.tasks:
        print("There are no tasks.")
        return
    _print_tasks(page.tasks)
    if page.next:
        print(f"There are more; --limit shows more than {args.limit}.", file=sys.stderr)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    task = await client.task(args.task)
    if as_json:
        _json(task)
        return
    _print_tasks((task,))
    _print_turns(task)
    for request in task.pending:
        print(f"waits: {clean(request.question)} ({request.request_id})")
    for waiting in task.inbox:
        print(f"{waiting.mode}: {one_line(waiting.message, 80)}")


async def _events(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    types = [part.strip() for part in args.types.split(",") if part.strip()]
    width = console().width
    async for event in client.thread(args.task, after_seq=args.after, types=types):
        if as_json:
            print(event.raw if isinstance(event, UnknownEvent) else encode(event).decode())
            continue
        name = one_line(event.raw_type, 40) if isinstance(event, UnknownEvent) else type_of(event)
        line = f"{event.seq:>6}  {event.timestamp[11:23]}  {name:<20}  {summary(event)}"
        print(line if len(line) <= width else line[: width - 1] + "…")


async def _fork(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.fork(args.task, args.seq, args.new_task)
    _json(made) if as_json else print(made.task_id)


async def _cancel(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.cancel(args.task)
    _json(done) if as_json else print(f"Cancelled {done.turn_id}.")


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.delete(args.task)
    _json(done) if as_json else print(f"Deleted {done.task_id}.")


async def _artifacts(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.artifacts(args.task)
    if as_json:
        _json(found)
        return
    print_table(
        ("artifact", "name", "bytes", "made"),
        [(item.artifact_id, item.name, f"{item.size:,}", _time(item.created_at)) for item in found],
    )


async def _artifact(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    del as_json
    data = await client.artifact(args.task, args.artifact)
    if args.output is None:
        print(clean(data.decode("utf-8", "replace")), end="")
    else:
        with whole_file(args.output) as file:
            file.write(data)


async def _undo(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.undo(args.task, args.turn, force=args.force)
    if as_json:
        _json(done)
        return
    for file in done.files:
        print(f"{file.action} {clean(file.path)}")


async def _compact(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.compact(args.task, args.focus)
    _json(done) if as_json else print(compacted.sentence(done))


_WORK: dict[str, Work] = {
    "list": _list,
    "show": _show,
    "events": _events,
    "fork": _fork,
    "cancel": _cancel,
    "artifacts": _artifacts,
    "context": context,
    "artifact": _artifact,
    "undo": _undo,
    "compact": _compact,
    "delete": _delete,
}


def _json(value: Any) -> None:
    print(encode(value).decode())


def _print_tasks(tasks: tuple[TaskSummary, ...]) -> None:
    print_table(
        ("task", "status", "changed", "title"),
        [(task.task_id, task.status, _time(task.updated_at), task.title) for task in tasks],
    )


def _print_turns(task: TaskDetail) -> None:
    print_table(
        ("turn", "status", "began", "calls", "tokens", "cost", "ended with"),
        [
            (
                turn.turn_id,
                turn.status,
                _time(turn.started_at),
                str(turn.model_calls),
                f"{turn.input_tokens} in, {turn.output_tokens} out",
                f"${turn.cost_usd:.4f}",
                turn.error or turn.stop_reason or "",
            )
            for turn in task.turns
        ],
    )


def _time(stamp: str) -> str:
    return stamp[:19].replace("T", " ")
