"""`aster learning`: how learning stands, doing it now, what it changed, and taking it back."""

import argparse

from aster.cli.actions import Work, act
from aster.cli.screen.clean import one_line
from aster.cli.self_play import self_play
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.learning import Decision, LearnedChange, LearnedItem
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode

WIDTH = 100


def command(args: argparse.Namespace) -> int:
    args.action = args.action or "status"
    return act(args, _WORK)


async def _status(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    del args
    state = await client.learning.status()
    if as_json:
        print(encode(state).decode())
        return
    by_itself = "by itself" if state.by_itself else "when asked to"
    review = ", after you accept it" if state.review else ""
    print(f"Learning: {state.mode} ({by_itself}{review})")
    queue = state.queue
    print(f"Waiting: {queue.waiting} of what happened, {queue.set_aside} set aside, {queue.done} done")
    limit = "no limit" if state.budget.limit_usd is None else f"of {state.budget.limit_usd:g} USD"
    print(f"Spent today: {state.budget.spent_usd:.4f} USD, {limit}")
    if state.next_run_at is not None:
        print(f"Next run: {state.next_run_at}")
    rows = [
        (work.name, work.last.at, work.last.outcome, one_line(work.last.reason, 60))
        if work.last is not None
        else (work.name, "", "", "")
        for work in state.works
    ]
    print_table(("work", "last run", "outcome", "why"), rows)


async def _run(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.learning.run(args.works, wait=not args.no_wait)
    if as_json:
        print(encode(done).decode())
    elif args.no_wait:
        print("Begun; `aster learning` tells how it goes.")
    elif not done.runs:
        print("There is nothing to learn from.")
    else:
        rows = [(one.work, one.outcome, one.changeset_id or "", one_line(one.reason, 80)) for one in done.runs]
        print_table(("work", "outcome", "changeset", "why"), rows)


async def _changesets(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.learning.changesets(status=args.status, night=args.night, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.changeset_id, one.created_at, one.kind, one.status, one_line(one.title, 60)) for one in page.changesets
    ]
    print_table(("id", "when", "kind", "status", "what"), rows)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.learning.changeset(args.changeset), as_json)


async def _decide(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    decision: Decision = args.action
    _tell(await client.learning.decide(args.changeset, decision, args.place), as_json)


async def _revert(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    if (args.changeset is None) == (args.night is None):
        raise EngineError(ErrorCode.INVALID_REQUEST, "Name a changeset, or a day with --night.")
    if args.changeset is not None:
        await _decide(client, args, as_json)
        return
    done = await client.learning.revert_night(args.night)
    if as_json:
        print(encode(done).decode())
        return
    for one in done.changesets:
        _tell(one, as_json)
    print(f"Took back {len(done.changesets)} changesets of {done.night}.")


async def _trials(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    if args.trial is not None:
        print(encode(await client.learning.trial(args.trial)).decode())
        return
    page = await client.learning.trials(limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (
            *(one.trial_id, one.kind, one.status, str(one.turns), f"{one.gain:+.2f}", f"{one.wins}:{one.losses}"),
            one_line(str(one.fields.get("correct_pattern") or one.fields.get("content") or ""), 60),
        )
        for one in page.trials
    ]
    print_table(("id", "kind", "status", "turns", "gain", "won", "what"), rows)


async def _learned(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.learning.learned(limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (
            *(str(one.record["id"]), one_line(str(one.record["text"]), 50), str(one.record["receipt"]["uses"])),
            *(_from(one.record["receipt"]["task_id"], one.record["receipt"]["first_seq"]), one_line(one.quote, 50)),
        )
        for one in page.learned
    ]
    print_table(("id", "what", "uses", "from", "your words"), rows)


def _tell(change: LearnedChange, as_json: bool) -> None:
    if as_json:
        print(encode(change).decode())
        return
    print(f"{change.changeset_id} ({change.kind}, {change.status}): {one_line(change.title, WIDTH)}")
    for item in change.items:
        _tell_item(item)


def _tell_item(item: LearnedItem) -> None:
    why = f": {one_line(item.reason, WIDTH)}" if item.reason else ""
    print(f"  {item.place}. {item.action} {item.kind} [{item.status}{why}]")
    for old in item.before:
        print(f"     - {one_line(old.text, WIDTH)}")
    if item.after is not None:
        print(f"     + {one_line(item.after, WIDTH)}")
    if item.quote:
        print(f'     "{one_line(item.quote, WIDTH)}" ({_from(item.receipt.task_id, item.receipt.first_seq)})')


def _from(task_id: str | None, seq: int) -> str:
    return "" if task_id is None else f"{one_line(task_id, 40)} #{seq}"


_WORK: dict[str, Work] = {
    "status": _status,
    "run": _run,
    "changesets": _changesets,
    "show": _show,
    "accept": _decide,
    "reject": _decide,
    "revert": _revert,
    "trials": _trials,
    "learned": _learned,
    "self-play": self_play,
}
