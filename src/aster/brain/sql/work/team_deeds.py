"""Changing teams: each order compares and sets while no other change of its team is under way, and says what is to be
told of it, on which threads.

The order of locks is the same everywhere: threads, the team, the work of its user.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph, team_requests, teams
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.teams import (
    AskToStop,
    Begin,
    Ended,
    Heard,
    NewMember,
    NewTeam,
    Post,
    Spawn,
    Stopped,
    TeamOrder,
    TeamOutcome,
    Told,
    owner_of,
)
from aster.brain.work import ENGINE as WORK_ENGINE
from aster.brain.work import Abandon, Actor, Claim
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, Phase, TaskLifecycle, TeamUpdate
from aster.contracts.teams import (
    ENGINE,
    EVERYBODY,
    LEAD,
    Mail,
    MailType,
    Team,
    TeamAction,
    TeamMember,
    TeamObstacle,
)
from aster.infra.clock import now_ms

_MINUTE_MS: Final = 60_000
_MAY_BEGIN: Final = ("idle", "failed", "waiting_approval")


class SqlTeamDeed:
    """One order, made when the writer calls it."""

    def __init__(self, order: TeamOrder) -> None:
        self._order = order
        self.outcome = TeamOutcome()

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        self._db, self._now, self._told = db, now_ms(), list[Event]()
        self.outcome, order = TeamOutcome(), self._order
        if isinstance(order, Ended):
            member = teams.member_at(db, order.user_id, order.task_id)
            if member is None:
                return ()
            self._hold(member.team_id)
            self._ended(order, member.team_id, member.name)
            return self._told
        self._hold(order.team_id)
        match order:
            case Spawn():
                self._spawn(order)
            case Post():
                self._post(order)
            case Begin():
                self._begin(order)
            case Told():
                self._mark(order, "turn_id = ?, told_id = ?, told_at = ?", order.turn_id, order.told_id, self._now)
            case Heard():
                self._mark(order, "acked_at = ?", self._now)
            case AskToStop():
                self._ask_to_stop(order)
            case Stopped():
                self._stopped(order)
        return self._told

    def _hold(self, team_id: str) -> None:
        self._db.dialect.hold(self._db, f"team {team_id}")

    def _spawn(self, order: Spawn) -> None:
        db, user_id = self._db, order.user_id
        if order.team is not None and teams.team(db, user_id, order.team_id) is None:
            self._make(user_id, order.team)
        found = self._active(user_id, order.team_id)
        everybody = teams.members(db, user_id, order.team_id)
        if order.call_key and (made := self._made(order)):
            self.outcome = TeamOutcome(team=found, members=tuple(one for one in everybody if one.name in made))
            return
        there = sum(one.status != "stopped" for one in everybody)
        if there + len(order.members) > order.most:
            why = f"{there} members are in the team, and {order.most} are the most"
            raise conflict("too_many", f"Nobody was added: {why}.")
        taken = {one.name.casefold() for one in everybody}
        for new in order.members:
            if new.draft.name.casefold() in taken:
                raise conflict("name_taken", f"There is a member {new.draft.name} already; nobody was added.")
            taken.add(new.draft.name.casefold())
            self._join(found, new, order)
        everybody = teams.members(db, user_id, order.team_id)
        for new in order.members:
            self._send(found, everybody, order.sender, new.draft.name, "message", new.draft.prompt)
            if new.draft.require_plan:
                self._send(found, everybody, order.sender, new.draft.name, "plan_request", team_requests.WANTED)
        names = {new.draft.name for new in order.members}
        made = tuple(one for one in everybody if one.name in names)
        self.outcome = replace(self.outcome, team=found, members=made)

    def _made(self, order: Spawn) -> set[str]:
        """Whom this very call has made before."""
        rows = self._db.execute(
            "SELECT name FROM team_members WHERE user_id = ? AND team_id = ? AND call_key = ?",
            (order.user_id, order.team_id, order.call_key),
        )
        return {row[0] for row in rows}

    def _make(self, user_id: str, new: NewTeam) -> None:
        sql = "SELECT team_id FROM teams WHERE user_id = ? AND lead_task_id = ? AND status = 'active'"
        led = self._db.execute(sql, (user_id, new.lead_task_id)).fetchone()
        if led is not None:
            raise conflict("already_leads", f"The task leads the team {led[0]} already; stop that one first.")
        fields = {
            "team_id": new.team_id,
            "user_id": user_id,
            "name": new.name,
            "board": new.board,
            "lead_task_id": new.lead_task_id,
            "status": "active",
            "budget_usd": new.budget_usd,
            "created_at": self._now,
            "updated_at": self._now,
        }
        teams.insert(self._db, "teams", fields)
        if new.title:
            self._told.append(TaskLifecycle(phase="renamed", title=new.title))
        self._told.append(
            TeamUpdate(team_id=new.team_id, team=new.name, action="created", task_id=new.lead_task_id)
        )

    def _join(self, found: Team, new: NewMember, order: Spawn) -> None:
        """A member, with what it begins with claimed for it; one that cannot have that is none."""
        draft = new.draft
        fields = {
            "team_id": found.team_id,
            "user_id": found.user_id,
            "name": draft.name,
            "folded": draft.name.casefold(),
            "role": draft.role,
            "agent": draft.agent,
            "task_id": new.task_id,
            "status": "idle",
            "stop": "",
            "reason": "",
            "require_plan": int(draft.require_plan),
            "body": new.body,
            "turns": 0,
            "begun": 0,
            "turn_id": "",
            "call_key": order.call_key,
            "created_at": self._now,
            "updated_at": self._now,
        }
        teams.insert(self._db, "team_members", fields)
        if draft.require_plan:
            owner = owner_of(found.team_id, draft.name)
            self._db.dialect.hold(self._db, f"work {found.user_id}")
            team_requests.require(self._db, found.user_id, found.team_id, draft.name, owner, new.task_id, self._now)
        if draft.item_id is not None:
            self._claim(found, draft.name, new.task_id, draft.item_id, "")
        member = self._member(found.user_id, found.team_id, draft.name)
        self._tell(found, member, "joined", item_id=draft.item_id)

    def _claim(self, found: Team, name: str, task_id: str, item_id: str, source: str) -> None:
        owner = owner_of(found.team_id, name)
        actor = Actor(user_id=found.user_id, name=owner, task_id=task_id)
        self._work(found, SqlDeed(Claim(actor=actor, owner=owner, item_id=item_id, source=source)))

    def _work(self, found: Team, deed: SqlDeed) -> None:
        """Change the board; it is told on the lead's thread."""
        self._told += [replace(event, task_id=found.lead_task_id) for event in deed(self._db)]

    def _post(self, order: Post) -> None:
        db, user_id = self._db, order.user_id
        if order.call_key and (sent := self._sent(order)):
            self.outcome = TeamOutcome(mail=tuple(sent))
            return
        found = self._active(user_id, order.team_id)
        everybody = teams.members(db, user_id, order.team_id)
        recipients = self._recipients(order, everybody)
        self._paced(order, recipients)
        if order.asked:
            for name in recipients:
                db.execute(
                    "UPDATE team_members SET turns = 0, updated_at = ? WHERE user_id = ? AND team_id = ?"
                    " AND name = ?",
                    (self._now, user_id, order.team_id, name),
                )
        kind: MailType = "broadcast" if order.recipient == EVERYBODY else order.type
        for name in recipients:
            self._send(
                *(found, everybody, order.sender, name, kind, order.content),
                metadata=order.metadata,
                call_key=order.call_key,
            )

    def _sent(self, order: Post) -> list[Mail]:
        everything = teams.mail(self._db, order.user_id, order.team_id, limit=1000, name=order.sender)
        keys = self._db.execute(
            "SELECT message_id FROM team_mail WHERE user_id = ? AND team_id = ? AND call_key = ?",
            (order.user_id, order.team_id, order.call_key),
        )
        ids = {row[0] for row in keys}
        return [one for one in reversed(everything) if one.message_id in ids]

    def _recipients(self, order: Post, everybody: Sequence[TeamMember]) -> list[str]:
        """Whom a message goes to, by the names they have; a name nobody has is refused."""
        here = [one for one in everybody if one.status != "stopped"]
        if order.recipient == EVERYBODY:
            wanted = [one.name for one in here if one.name != order.sender]
            if not wanted:
                raise conflict("unknown_recipient", "Nobody else is in the team; nothing was sent.")
            return wanted
        if order.recipient.casefold() == LEAD and order.sender != LEAD:
            return [LEAD]
        named = next((one for one in everybody if one.name.casefold() == order.recipient.casefold()), None)
        if named is not None and named.status == "stopped":
            raise conflict("stopped", f"{named.name} has stopped and reads nothing any more; nothing was sent.")
        if named is None or named.name == order.sender:
            names = [one.name for one in here if one.name != order.sender]
            names += [LEAD] if order.sender != LEAD else []
            said = f"{order.recipient[:80]!r} is nobody you can write to; nothing was sent."
            raise conflict("unknown_recipient", f"{said} Write to: {', '.join((*names, EVERYBODY))}.")
        return [named.name]

    def _paced(self, order: Post, recipients: Sequence[str]) -> None:
        """Refuse what would be too much."""
        if order.per_minute:
            sql = "SELECT count(DISTINCT message_id) FROM team_mail WHERE team_id = ? AND sender = ? AND created_at > ?"
            since = (order.team_id, order.sender, self._now - _MINUTE_MS)
            if self._db.execute(sql, since).fetchone()[0] + len(recipients) > order.per_minute:
                raise conflict("too_fast", f"More than {order.per_minute} messages in a minute; nothing was sent.")
        if order.most:
            waiting = teams.waiting(self._db, order.user_id, order.team_id)
            full = next((name for name in recipients if waiting.get(name, 0) >= order.most), None)
            if full is not None:
                raise conflict("inbox_full", f"{order.most} messages wait for {full}; nothing was sent.")

    def _begin(self, order: Begin) -> None:
        found = self._active(order.user_id, order.team_id)
        member = self._member(order.user_id, order.team_id, order.name)
        if member.stop or member.status == "stopped":
            raise conflict("stopped", f"{member.name} has stopped.")
        if member.begun != order.begun or member.status not in _MAY_BEGIN:
            raise conflict("busy", f"{member.name} is at something else by now.")
        if order.item_id is not None:
            self._claim(found, member.name, member.task_id, order.item_id, "auto")
        told = Told(
            user_id=order.user_id,
            team_id=order.team_id,
            recipient=member.name,
            seqs=order.seqs,
            turn_id=order.turn_id,
            told_id=order.told_id,
        )
        self._mark(told, "turn_id = ?, told_id = ?, told_at = ?", order.turn_id, order.told_id, self._now)
        self._set(
            member,
            status="working",
            turn_id=order.turn_id,
            turns=member.turns + 1,
            begun=member.begun + 1,
            reason="",
        )
        held = graph.held(self._db, order.user_id, owner_of(order.team_id, member.name))
        item_id = None if held is None else held.item_id
        self._tell(found, self._again(member), "working", item_id=item_id)

    def _mark(self, order: Told | Heard, change: str, *given: object) -> None:
        if order.seqs:
            marks = ", ".join("?" * len(order.seqs))
            self._db.execute(
                f"UPDATE team_mail SET {change} WHERE user_id = ? AND team_id = ? AND recipient = ? AND seq IN"
                f" ({marks}) AND acked_at IS NULL",
                (*given, order.user_id, order.team_id, order.recipient, *order.seqs),
            )

    def _ended(self, order: Ended, team_id: str, name: str) -> None:
        """What a member did is told to the lead before it is told that it rests; what it did not do is free again."""
        db, user_id = self._db, order.user_id
        found, member = teams.team(db, user_id, team_id), self._member(user_id, team_id, name)
        if found is None or member.turn_id != order.turn_id:
            return
        everybody = teams.members(db, user_id, team_id)
        about = {"turn_id": order.turn_id, "task_id": member.task_id, "stop_reason": order.stop_reason}
        if member.stop == "hard" or member.status == "stopped":
            self._free(found, member, "the member was stopped")
            self._set(member, status="stopped")
            self._tell(found, self._again(member), "stopped", cost_usd=order.cost_usd)
            if member.stop == "hard":
                self._send(found, everybody, ENGINE, LEAD, "error", _was_stopped(member), metadata=about)
            return
        if order.phase is not Phase.COMPLETED:
            self._free(found, member, f"the turn that had it ended: {order.stop_reason}")
            self._set(member, status="failed", reason=order.stop_reason)
            self._tell(found, self._again(member), "failed", reason=order.stop_reason, cost_usd=order.cost_usd)
            said = f"{name} failed ({order.stop_reason}). {order.said}".strip()
            self._send(found, everybody, name, LEAD, "error", said, metadata=about)
            return
        if member.status == "waiting_approval" or member.stop:
            self._tell(found, member, member.status, cost_usd=order.cost_usd)
            return
        self._set(member, status="idle", reason=order.stop_reason)
        held = graph.held(db, user_id, owner_of(team_id, name))
        item_id = None if held is None else held.item_id
        self._tell(found, self._again(member), "idle", item_id=item_id, cost_usd=order.cost_usd)
        self._send(found, everybody, name, LEAD, "result", order.said, metadata=about)
        rest = f"{name} is idle." if held is None else f"{name} is idle and still has {item_id} ({held.subject})."
        self._send(found, everybody, name, LEAD, "idle_notification", rest, metadata={"item_id": item_id})

    def _ask_to_stop(self, order: AskToStop) -> None:
        found = self._team(order.user_id, order.team_id)
        everybody = teams.members(self._db, order.user_id, order.team_id)
        if order.name is not None:
            everybody = [self._member(order.user_id, order.team_id, order.name)]
        elif found.status == "active":
            self._db.execute(
                "UPDATE teams SET status = 'stopped', ended_at = ?, updated_at = ? WHERE team_id = ?",
                (self._now, self._now, found.team_id),
            )
            self._told.append(
                TeamUpdate(team_id=found.team_id, team=found.name, action="stopped", task_id=found.lead_task_id)
            )
        for member in everybody:
            if member.status != "stopped" and member.stop != "hard":
                self._set(member, status="stopping", stop="hard", reason=f"stopped by {order.by}")
                self._tell(found, self._again(member), "stopping", reason=f"stopped by {order.by}")
        now = teams.members(self._db, order.user_id, order.team_id)
        names = {member.name for member in everybody}
        self.outcome = TeamOutcome(
            team=self._team(order.user_id, order.team_id), members=tuple(one for one in now if one.name in names)
        )

    def _stopped(self, order: Stopped) -> None:
        found = self._team(order.user_id, order.team_id)
        member = self._member(order.user_id, order.team_id, order.name)
        if member.stop != "hard" or member.status == "stopped":
            return
        self._free(found, member, "the member was stopped")
        self._set(member, status="stopped")
        self._tell(found, self._again(member), "stopped", reason=member.reason)
        everybody = teams.members(self._db, order.user_id, order.team_id)
        self._send(found, everybody, ENGINE, LEAD, "error", _was_stopped(member))

    def _free(self, found: Team, member: TeamMember, reason: str) -> None:
        actor = Actor(user_id=member.user_id, name=WORK_ENGINE)
        self._work(found, SqlDeed(Abandon(actor=actor, task_id=member.task_id, reason=reason)))
        if member.stop:
            team_requests.void(self._db, member.user_id, member.task_id, self._now)

    def _send(
        self,
        found: Team,
        everybody: Sequence[TeamMember],
        sender: str,
        recipient: str,
        kind: MailType,
        content: str,
        *,
        metadata: dict[str, Any] | None = None,
        call_key: str = "",
    ) -> None:
        places = teams.places_of(found, everybody)
        sent, told = teams.post(
            self._db, found, (sender, recipient, kind, content), places, self._now, metadata, call_key
        )
        self._told += told
        self.outcome = replace(self.outcome, mail=(*self.outcome.mail, sent))

    def _tell(
        self,
        found: Team,
        member: TeamMember,
        action: TeamAction,
        *,
        item_id: str | None = None,
        reason: str | None = None,
        cost_usd: float | None = None,
    ) -> None:
        self._told.append(
            TeamUpdate(
                team_id=found.team_id,
                team=found.name,
                action=action,
                task_id=found.lead_task_id,
                member=member.name,
                role=member.role,
                agent=member.agent,
                member_task_id=member.task_id,
                member_turn_id=member.turn_id,
                item_id=item_id,
                reason=reason,
                cost_usd=cost_usd,
            )
        )

    def _set(self, member: TeamMember, **fields: Any) -> None:
        changes = "".join(f", {name} = ?" for name in fields)
        self._db.execute(
            f"UPDATE team_members SET updated_at = ?{changes} WHERE user_id = ? AND task_id = ?",
            (self._now, *fields.values(), member.user_id, member.task_id),
        )

    def _again(self, member: TeamMember) -> TeamMember:
        return self._member(member.user_id, member.team_id, member.name)

    def _team(self, user_id: str, team_id: str) -> Team:
        found = teams.team(self._db, user_id, team_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no team {team_id[:80]!r}.")
        return found

    def _active(self, user_id: str, team_id: str) -> Team:
        found = self._team(user_id, team_id)
        if found.status != "active":
            raise conflict("stopped", f"The team {found.name} has been stopped.")
        return found

    def _member(self, user_id: str, team_id: str, name: str) -> TeamMember:
        found = teams.member(self._db, user_id, team_id, name)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no member {name[:80]!r} in this team.")
        return found


def conflict(reason: TeamObstacle, message: str) -> EngineError:
    return EngineError(ErrorCode.TEAM_CONFLICT, message, {"reason": reason})


def _was_stopped(member: TeamMember) -> str:
    return f"{member.name} was {member.reason or 'stopped'}. What it was at is back on the board."
