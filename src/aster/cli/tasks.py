"""`aster tasks`: look at the engine's tasks and change them."""

import argparse
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.screen.clean import clean, one_line
from aster.cli.summary import summary
from aster.client import AsterClient
from aster.client.records import TaskDetail, TaskSummary
from aster.contracts.events import UnknownEvent, type_of
from aster.contracts.model import encode

Show: TypeAlias = Callable[[Any], None]
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
    Console().print(_task_table(page.tasks) if page.tasks else "There are no tasks.")
    if page.next:
        Console(stderr=True).print(f"There are more; --limit shows more than {args.limit}.", style="dim")


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    task = await client.task(args.task)
    if as_json:
        _json(task)
        return
    console = Console()
    console.print(_task_table((task,)))
    console.print(_turn_table(task))
    for request in task.pending:
        console.print(f"waits: {clean(request.question)} ({request.request_id})", markup=False)
    for waiting in task.inbox:
        console.print(f"{waiting.mode}: {one_line(waiting.message, 80)}", markup=False)


async def _events(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    types = [part.strip() for part in args.types.split(",") if part.strip()]
    console = Console()
    async for event in client.thread(args.task, after_seq=args.after, types=types):
        if as_json:
            print(event.raw if isinstance(event, UnknownEvent) else encode(event).decode())
            continue
        name = event.raw_type if isinstance(event, UnknownEvent) else type_of(event)
        line = f"{event.seq:>6}  {event.timestamp[11:23]}  {name:<20}  {summary(event)}"
        console.print(one_line_of(line, console.width), markup=False, highlight=False)


def one_line_of(line: str, width: int) -> str:
    """A line cut at the width of the terminal, its columns kept."""
    line = clean(line).replace("\n", " ")
    return line if len(line) <= width else line[: width - 1] + "…"


async def _fork(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.fork(args.task, args.seq, args.new_task)
    _json(made) if as_json else print(made.task_id)


async def _cancel(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.cancel(args.task)
    _json(done) if as_json else print(f"Cancelled {done.turn_id}.")


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.delete(args.task)
    _json(done) if as_json else print(f"Deleted {done.task_id}.")


_WORK: dict[str, Work] = {
    "list": _list,
    "show": _show,
    "events": _events,
    "fork": _fork,
    "cancel": _cancel,
    "delete": _delete,
}


def _json(value: Any) -> None:
    print(encode(value).decode())


def _task_table(tasks: tuple[TaskSummary, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("task", no_wrap=True, overflow="fold")
    for title in ("status", "changed", "title"):
        table.add_column(title, no_wrap=title != "title")
    for task in tasks:
        table.add_row(
            clean(task.task_id), task.status, task.updated_at[:19].replace("T", " "), one_line(task.title, 60)
        )
    return table


def _turn_table(task: TaskDetail) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("turn", "status", "began", "calls", "tokens", "cost", "ended with"):
        table.add_column(title, no_wrap=True)
    for turn in task.turns:
        table.add_row(
            turn.turn_id,
            turn.status,
            turn.started_at[:19].replace("T", " "),
            str(turn.model_calls),
            f"{turn.input_tokens} in, {turn.output_tokens} out",
            f"${turn.cost_usd:.4f}",
            turn.error or turn.stop_reason or "",
        )
    return table
