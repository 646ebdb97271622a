"""`aster workflow`: the workflows of the catalog, and runs of them."""

import argparse
import asyncio
import json
from typing import Any, Final, cast

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.workflows import RunEntry
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode

WIDTH: Final = 70
LOOK_SECONDS: Final = 0.5


def command(args: argparse.Namespace) -> int:
    return act(args, _WORKFLOW)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    del args
    found = await client.workflows.list()
    if as_json:
        print(encode(found).decode())
        return
    print_table(("name", "what it is for"), [(one.name, one_line(one.description, WIDTH)) for one in found])


async def _run(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    run = await client.workflows.start(args.workflow, _given(args.given), task_id=args.task)
    _tell(await _ended(client, run) if args.wait else run, as_json)


async def _runs(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.workflows.runs(task_id=args.task, limit=args.limit)
    if as_json:
        print(encode(found).decode())
        return
    rows = [
        (one.run_id, one.workflow, one.status, one_line(one.phase, 30), f"${one.cost_usd:.4f}", one.created_at)
        for one in found
    ]
    print_table(("run", "workflow", "status", "phase", "cost", "begun"), rows)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    run = await client.workflows.get(args.run)
    _tell(run, as_json)
    if as_json:
        return
    rows = [(one_line(one.label, 40), one_line(one.phase, 30), one.status, one.task_id) for one in run.calls or ()]
    print_table(("agent", "phase", "status", "task"), rows)


async def _resume(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    run = await client.workflows.resume(args.run)
    _tell(await _ended(client, run) if args.wait else run, as_json)


async def _cancel(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.workflows.cancel(args.run), as_json)


async def _ended(client: AsterClient, run: RunEntry) -> RunEntry:
    """The run, when it has ended."""
    while run.status == "running":
        await asyncio.sleep(LOOK_SECONDS)
        run = await client.workflows.get(run.run_id)
    return run


def _tell(run: RunEntry, as_json: bool) -> None:
    if as_json:
        print(encode(run).decode())
        return
    print(f"{run.run_id} [{run.status}] {run.workflow} in {run.task_id}")
    if run.problem:
        print(clean(run.problem))
    if run.result is not None:
        print(clean(run.result if isinstance(run.result, str) else encode(run.result).decode()))


def _given(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise EngineError(ErrorCode.INVALID_REQUEST, "`--args` has to be a JSON object, such as '{\"files\": []}'.")
    return cast("dict[str, Any]", value)


_WORKFLOW: dict[str, Work] = {
    "list": _list,
    "run": _run,
    "runs": _runs,
    "show": _show,
    "resume": _resume,
    "cancel": _cancel,
}
