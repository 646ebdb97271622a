"""`aster schedule`: what is said to a task later or again and again, and what became of it."""

import argparse

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.schedules import ScheduleOptions, ScheduleSummary, Watch
from aster.contracts.model import encode

WATCH_SECONDS = 60


def command(args: argparse.Namespace) -> int:
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.schedules.list(status=args.status, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.schedule_id, one.status, when(one), one.next_at or "", one_line(one.name or one.prompt, 60))
        for one in page.schedules
    ]
    print_table(("id", "status", "when", "next", "what"), rows)


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.schedules.create(args.prompt, **_options(args))
    following = "" if made.next_at is None or made.kind == "watch" else f" First due {made.next_at}."
    print(encode(made).decode() if as_json else f"Made {made.schedule_id}.{following}")


async def _edit(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    args.task = None
    changes = dict(_options(args))
    if args.prompt is not None:
        changes["prompt"] = args.prompt
    _tell(await client.schedules.edit(args.schedule, version=args.version, **changes), as_json)


def _options(args: argparse.Namespace) -> ScheduleOptions:
    given: dict[str, object] = {
        "name": args.name,
        "cron": args.cron,
        "time_zone": args.zone,
        "every_seconds": args.every,
        "at": args.at,
        "task_id": args.task,
        "catch_up": args.catch_up,
        "expires_at": args.expires,
        "max_runs": args.max_runs,
        "jitter": args.jitter or None,
    }
    if args.watch_command is not None or args.watch_url is not None:
        given["every_seconds"] = None
        watch = {"command": args.watch_command, "url": args.watch_url}
        watching: Watch = {"every_seconds": args.every or WATCH_SECONDS}
        watching.update({name: value for name, value in watch.items() if value is not None})  # type: ignore[typeddict-item]
        given["watch"] = watching
    options: ScheduleOptions = {}
    options.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    return options


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.schedules.get(args.schedule), as_json)


async def _run(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.schedules.run(args.schedule)
    print(encode(made).decode() if as_json else f"Due now ({made.due_at}).")


async def _pause(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.schedules.pause(args.schedule), as_json)


async def _resume(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.schedules.resume(args.schedule), as_json)


async def _cancel(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.schedules.cancel(args.schedule), as_json)


async def _times(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.schedules.occurrences(args.schedule, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.due_at, one.status if one.count == 1 else f"{one.status} ({one.count})", one.task_id or "", one.reason)
        for one in page.occurrences
    ]
    print_table(("due", "status", "task", "why"), rows)


def when(one: ScheduleSummary) -> str:
    """When it is due, in a few words."""
    trigger = one.trigger
    match one.kind:
        case "cron":
            return f"{trigger['cron']} ({trigger['time_zone']})"
        case "interval":
            return f"every {trigger['seconds']} s"
        case "once":
            return f"once, {trigger['at']}"
        case _:
            return f"watches {trigger.get('command') or trigger.get('url')} every {trigger['seconds']} s"


def _tell(one: ScheduleSummary, as_json: bool) -> None:
    if as_json:
        print(encode(one).decode())
        return
    print(f"{one.schedule_id} ({one.status}): {clean(when(one))}")
    if one.problem:
        print(f"problem: {clean(one.problem)}")
    print(f"task: {clean(one.task_id) if one.task_id else 'a new one each time'}; runs so far: {one.runs}")
    for at in one.coming:
        print(f"due {at}")
    print(f"\n{clean(one.prompt)}")


_WORK: dict[str, Work] = {
    "list": _list,
    "add": _add,
    "edit": _edit,
    "show": _show,
    "run": _run,
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "times": _times,
}
