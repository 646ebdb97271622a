"""Teams over the wire: who works together for a task, the mail between them, their plans, and what is asked of them."""

import builtins
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract, to_builtins
from aster.contracts.teams import MemberDraft


class MemberEntry(Contract):
    """A member; what it does is on the thread of its own task."""

    name: str
    task_id: str
    status: str
    role: str = ""
    agent: str = ""
    stop: str = ""
    reason: str = ""
    require_plan: bool = False
    turns: int = 0
    turn_id: str | None = None
    item_id: str | None = None
    cost_usd: float = 0.0
    unread: int = 0


class TeamEntry(Contract):
    """A team; `items` is how much of what is on its board, `unread` what waits for the lead."""

    team_id: str
    name: str
    board: str
    lead_task_id: str
    status: str
    created_at: str
    budget_usd: float = 0.0
    cost_usd: float = 0.0
    ended_at: str | None = None
    members: tuple[MemberEntry, ...] = ()
    items: dict[str, int] = {}
    unread: int = 0


class TeamPage(Contract):
    teams: tuple[TeamEntry, ...]
    next: str | None = None


class TeamLetter(Contract):
    """A message in a team; it is told (`told_at`) and then heard (`acked_at`) by the model of whoever it is for."""

    number: int
    recipient: str
    seq: int
    message_id: str
    sender: str
    type: str
    content: str
    created_at: str
    metadata: dict[str, Any] | None = None
    told_at: str | None = None
    acked_at: str | None = None
    turn_id: str | None = None


class TeamMail(Contract):
    mail: tuple[TeamLetter, ...]
    next: int | None = None


class TeamRequestEntry(Contract):
    """A request: `sender` asks it of `target`, about `member`; `content` is the plan, or why somebody is to stop."""

    request_id: str
    team_id: str
    kind: str
    sender: str
    target: str
    member: str
    status: str
    content: str
    work_version: int
    created_at: str
    item_id: str | None = None
    answered_by: str | None = None
    feedback: str | None = None
    answered_at: str | None = None


class TeamRequestEntries(Contract):
    requests: tuple[TeamRequestEntry, ...]
    next: str | None = None


class PlanEntry(Contract):
    """How it stands with a member's plan; while it is not `approved` the member changes nothing."""

    member: str
    status: str
    work_version: int
    item_id: str | None = None
    request_id: str | None = None
    feedback: str | None = None


class PlanEntries(Contract):
    plans: tuple[PlanEntry, ...]


class TeamsClient:
    """The part of a client that is about teams."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def create(
        self,
        members: Sequence[MemberDraft],
        *,
        task_id: str | None = None,
        name: str | None = None,
        board: str | None = None,
        budget_usd: float | None = None,
    ) -> TeamEntry:
        """Make a team that works for a task; a new one when none is named."""
        given = {"task_id": task_id, "name": name, "board": board, "budget_usd": budget_usd}
        body = {
            "members": to_builtins(members),
            **{key: value for key, value in given.items() if value is not None},
        }
        return await self._wire.ask(TeamEntry, "POST", "/teams", body=body)

    async def list(self, *, status: str | None = None, limit: int = 50, before: str | None = None) -> TeamPage:
        """Newest first, without their members."""
        params = {"status": status, "limit": limit, "before": before}
        return await self._wire.ask(TeamPage, "GET", "/teams", params=params)

    async def get(self, team_id: str) -> TeamEntry:
        return await self._wire.ask(TeamEntry, "GET", _path(team_id))

    async def add_members(self, team_id: str, members: Sequence[MemberDraft]) -> TeamEntry:
        return await self._wire.ask(
            TeamEntry, "POST", _path(team_id, "members"), body={"members": to_builtins(members)}
        )

    async def stop(self, team_id: str) -> TeamEntry:
        """Stop all of it at once; what its members were at is back on the board."""
        return await self._wire.ask(TeamEntry, "POST", _path(team_id, "stop"), body={})

    async def stop_member(self, team_id: str, name: str) -> TeamEntry:
        """Stop a member at once, in the middle of what it does; `shutdown` lets it finish its step."""
        return await self._wire.ask(TeamEntry, "POST", _path(team_id, "members", name, "stop"), body={})

    async def shutdown(self, team_id: str, name: str, *, reason: str = "") -> TeamRequestEntry:
        """Ask a member to stop when it has finished its step."""
        path = _path(team_id, "members", name, "shutdown")
        return await self._wire.ask(TeamRequestEntry, "POST", path, body={"reason": reason})

    async def mail(
        self, team_id: str, *, name: str | None = None, limit: int = 50, before: int | None = None
    ) -> TeamMail:
        """The mail of a team, newest first; with `name` what that one wrote or got."""
        params = {"name": name, "limit": limit, "before": before}
        return await self._wire.ask(TeamMail, "GET", _path(team_id, "mail"), params=params)

    async def say(self, team_id: str, recipient: str, content: str) -> "builtins.tuple[TeamLetter, ...]":
        """Write to a member, to `lead` or to `all`."""
        body = {"to": recipient, "content": content}
        return (await self._wire.ask(TeamMail, "POST", _path(team_id, "mail"), body=body)).mail

    async def plans(self, team_id: str) -> "builtins.tuple[PlanEntry, ...]":
        """How it stands with the plans of those who were asked for one."""
        return (await self._wire.ask(PlanEntries, "GET", _path(team_id, "plans"))).plans

    async def ask_plan(self, team_id: str, name: str, *, reason: str = "") -> "builtins.tuple[PlanEntry, ...]":
        """Have a member hand in a plan before it changes anything more."""
        path = _path(team_id, "members", name, "plan")
        return (await self._wire.ask(PlanEntries, "POST", path, body={"reason": reason})).plans

    async def requests(
        self,
        team_id: str,
        *,
        kind: str | None = None,
        status: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> TeamRequestEntries:
        """What was asked in a team, newest first."""
        params = {"kind": kind, "status": status, "limit": limit, "before": before}
        return await self._wire.ask(TeamRequestEntries, "GET", _path(team_id, "requests"), params=params)

    async def request(self, team_id: str, request_id: str) -> TeamRequestEntry:
        return await self._wire.ask(TeamRequestEntry, "GET", _path(team_id, "requests", request_id))

    async def answer(
        self,
        team_id: str,
        request_id: str,
        *,
        approve: bool,
        feedback: str | None = None,
        type: str = "plan_approval_response",  # noqa: A002 - the name of the field
        member: str = "",
    ) -> TeamRequestEntry:
        """Say yes or no to a plan; it counts once, while the plan is open and for the work it was made for."""
        body = {"approve": approve, "feedback": feedback, "type": type, "member": member}
        return await self._wire.ask(
            TeamRequestEntry, "POST", _path(team_id, "requests", request_id, "answer"), body=body
        )


def _path(team_id: str, *more: str) -> str:
    return "/".join(("/teams", *(quote(part, safe="") for part in (team_id, *more))))
