"""`aster team`: who works together for a task, what they write to each other, and what waits for a yes."""

import argparse

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.teams import MemberEntry, TeamEntry, TeamRequestEntry
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract, encode

WIDTH = 80


def command(args: argparse.Namespace) -> int:
    if args.action is None:
        args.action, args.status, args.limit = "list", None, 50
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.teams.list(status=args.status, limit=args.limit)
    if as_json:
        _json(page)
        return
    rows = [(one.team_id, one.name, one.status, one.lead_task_id, one.created_at) for one in page.teams]
    print_table(("id", "name", "status", "works for", "since"), rows)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.teams.get(args.team)
    if as_json:
        _json(found)
        return
    _tell(found)
    plans = {plan.member: plan.status for plan in await client.teams.plans(args.team)}
    rows = [
        (one.name, one.role, _state(one), plans.get(one.name, ""), one.item_id or "", one.task_id)
        for one in found.members
    ]
    print_table(("member", "role", "status", "plan", "is at", "task"), rows)


async def _mail(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.teams.mail(args.team, name=args.member, limit=args.limit)
    if as_json:
        _json(found)
        return
    rows = [
        (one.created_at, f"{one.sender} → {one.recipient}", one.type, one_line(one.content, WIDTH))
        for one in found.mail
    ]
    print_table(("when", "who", "what", "text"), rows)


async def _say(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    sent = await client.teams.say(args.team, args.to, args.text)
    if as_json:
        print(encode(sent).decode())
        return
    print(f"Written to {', '.join(one_line(one.recipient, 70) for one in sent)}.")


async def _plans(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    plans = await client.teams.plans(args.team)
    waiting = await client.teams.requests(args.team, kind="plan_approval", status="pending")
    if as_json:
        print(encode({"plans": plans, "pending": waiting.requests}).decode())
        return
    print_table(
        ("member", "status", "for", "request"),
        [(one.member, one.status, one.item_id or "", one.request_id or "") for one in plans],
    )
    for one in waiting.requests:
        print(f"\n{one.request_id}: {one_line(one.member, 70)} asks {one.target}\n{clean(one.content)}")


async def _answer(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    waiting = await client.teams.requests(args.team, kind="plan_approval", status="pending", limit=200)
    named = (one.request_id for one in waiting.requests if one.member.casefold() == args.plan.casefold())
    request = next(named, args.plan)
    if request == args.plan and not request.startswith("req-"):
        raise EngineError(
            ErrorCode.NOT_FOUND, f"No plan of {one_line(args.plan, 70)!r} waits for a yes in this team."
        )
    answered = await client.teams.answer(
        args.team, request, approve=args.action == "approve", feedback=args.feedback
    )
    _told(answered, as_json)


async def _stop(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    if args.member is not None and not args.now:
        _told(await client.teams.shutdown(args.team, args.member, reason=args.reason), as_json)
        return
    if args.member is None:
        found = await client.teams.stop(args.team)
    else:
        found = await client.teams.stop_member(args.team, args.member)
    if as_json:
        _json(found)
        return
    _tell(found)


def _told(one: TeamRequestEntry, as_json: bool) -> None:
    if as_json:
        _json(one)
        return
    what = "The plan of" if one.kind == "plan_approval" else "The end of"
    print(f"{what} {one_line(one.member, 70)} is {one.status} ({one.request_id}).")


def _tell(one: TeamEntry) -> None:
    spent = f", ${one.cost_usd:.4f} spent" if one.cost_usd else ""
    print(f"{one.team_id} [{one.status}] {one_line(one.name, 70)}, for {one_line(one.lead_task_id, 70)}{spent}")


def _state(one: MemberEntry) -> str:
    return f"{one.status}: {one_line(one.reason, 30)}" if one.reason and one.status == "failed" else one.status


def _json(one: Contract) -> None:
    print(encode(one).decode())


_WORK: dict[str, Work] = {
    "list": _list,
    "show": _show,
    "mail": _mail,
    "say": _say,
    "plans": _plans,
    "approve": _answer,
    "reject": _answer,
    "stop": _stop,
}
