"""Requests in teams: each is made, answered or made void while no other change of its team is under way, with the mail
and the events that tell of it.

A person and the runtime have no box: what is for them is put on record as read. The gate of a member changes with the
work of its user held, so that an approval never meets work that has just changed.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from aster.brain.sql.connection import Connection
from aster.brain.sql.work import graph, team_requests, teams
from aster.brain.sql.work.team_deeds import SqlTeamDeed
from aster.brain.team_requests import (
    AnswerRequest,
    AskPlan,
    AskShutdown,
    AtRest,
    RequestOrder,
    SubmitPlan,
    answerable,
    question,
    refused,
    submittable,
)
from aster.brain.teams import TeamOutcome, owner_of
from aster.contracts.events import Event
from aster.contracts.team_requests import ANSWERS, RequestKind, TeamAnswer, TeamRequest
from aster.contracts.teams import LEAD, PERSON, MailType, Team, TeamMember
from aster.infra.clock import now_ms
from aster.infra.ids import new_id


class SqlRequestDeed(SqlTeamDeed):
    """One order about a request, made when the writer calls it."""

    def __init__(self, order: RequestOrder) -> None:
        self._asked = order
        self.outcome = TeamOutcome()
        self.request: TeamRequest | None = None

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        self._db, self._now, self._told = db, now_ms(), list[Event]()
        self.outcome = TeamOutcome()
        order = self._asked
        if isinstance(order, SubmitPlan | AtRest):
            member = teams.member_at(db, order.user_id, order.task_id)
            if member is None and isinstance(order, AtRest):
                return ()
            if member is None:
                raise refused("not_required")
            found = self._held(order.user_id, member.team_id)
            member = self._again(member)
            if isinstance(order, AtRest):
                self._at_rest(order, found, member)
            else:
                self._submit(order, found, member)
            return self._told
        found = self._held(order.user_id, order.team_id)
        match order:
            case AskPlan():
                self._ask_plan(order, found)
            case AskShutdown():
                self._ask_shutdown(order, found)
            case AnswerRequest():
                self._answer(order, found)
        return self._told

    def _held(self, user_id: str, team_id: str) -> Team:
        self._hold(team_id)
        self._db.dialect.hold(self._db, f"work {user_id}")
        return self._team(user_id, team_id)

    def _submit(self, order: SubmitPlan, found: Team, member: TeamMember) -> None:
        before = team_requests.called(self._db, order.user_id, order.call_key)
        if before is not None:
            self.request = before
            return
        gate = team_requests.gate(self._db, order.user_id, order.task_id)
        reason = submittable(gate)
        if reason is not None or gate is None:
            raise refused(reason or "not_required")
        made = self._made_request(
            *(found, member, "plan_approval", order.plan, order.call_key),
            sender=member.name,
            target=order.reviewer,
            version=gate.work_version,
        )
        team_requests.stand(
            *(self._db, order.user_id, order.task_id, "pending", self._now),
            request_id=made.request_id,
            item_id=made.item_id,
            feedback=None,
        )
        self._set(member, status="waiting_approval")
        self._tell(found, self._again(member), "waiting_approval", item_id=made.item_id)
        if order.tool_call_id and order.reviewer == PERSON:
            self._told.append(question(made, order.tool_call_id))
        named = f"A plan, {made.request_id}; review_plan answers it.\n\n{made.content}"
        said = named if made.target == LEAD else made.content
        self._mail(found, made.sender, made.target, "plan_approval_request", said, _about(made))

    def _ask_plan(self, order: AskPlan, found: Team) -> None:
        member = self._present(order.user_id, found, order.member)
        if order.call_key and self._mailed(found, order.call_key):
            return
        owner = owner_of(found.team_id, member.name)
        team_requests.require(self._db, order.user_id, found.team_id, member.name, owner, member.task_id, self._now)
        said = f"{order.reason} {team_requests.WANTED}".strip()
        self._mail(found, order.sender, member.name, "plan_request", said, None, order.call_key)

    def _ask_shutdown(self, order: AskShutdown, found: Team) -> None:
        user_id = order.user_id
        before = team_requests.called(self._db, user_id, order.call_key)
        if before is not None:
            self.request = before
            return
        member = self._present(user_id, found, order.member)
        under_way = team_requests.open_request(self._db, user_id, member.task_id, "shutdown")
        if under_way is not None:
            self.request = under_way
            return
        made = self._made_request(
            *(found, member, "shutdown", order.reason, order.call_key), sender=order.sender, target=member.name
        )
        self._set(member, status="stopping", stop="soft", reason=f"asked to stop by {order.sender}")
        self._tell(found, self._again(member), "stopping", reason=order.reason or None)
        self._mail(found, made.sender, made.target, "shutdown_request", made.content, _about(made))
        if self._rests(member):
            self._agree(found, self._again(member), made)
            self._tell(found, self._again(member), "stopped")

    def _answer(self, order: AnswerRequest, found: Team) -> None:
        answer = order.answer
        asked = team_requests.request(self._db, order.user_id, found.team_id, answer.request_id)
        reason = answerable(asked, answer)
        if reason is not None or asked is None:
            names = {"responder": answer.responder, "recipient": answer.recipient, "request": answer.request_id}
            raise refused(reason or "unknown_request", asked, **names)
        member = self._member(order.user_id, found.team_id, asked.member)
        if member.status == "stopped":
            raise refused("stopped", asked)
        if asked.kind == "shutdown":
            self._agree(found, member, asked)
            return
        status = "approved" if answer.approve else "rejected"
        self._settle(order.user_id, asked, answer)
        team_requests.stand(self._db, order.user_id, member.task_id, status, self._now, feedback=answer.feedback)
        if answer.responder == PERSON:
            self._set(member, turns=0)
        if order.asked and not member.stop:
            self._set(member, status="working")
            self._tell(found, self._again(member), "working", item_id=asked.item_id)
        about = _about(asked) | {"approve": answer.approve}
        said = f"Your plan {asked.request_id} is {status}. {answer.feedback or ''}".strip()
        self._mail(
            *(found, answer.responder, asked.sender, "plan_approval_response", said, about), read=order.asked
        )

    def _at_rest(self, order: AtRest, found: Team, member: TeamMember) -> None:
        asked = team_requests.open_request(self._db, order.user_id, order.task_id, "shutdown")
        if asked is not None:
            self._agree(found, member, asked)
            if order.idle:
                self._tell(found, self._again(member), "stopped")
            return
        gate = team_requests.gate(self._db, order.user_id, order.task_id)
        if gate is not None and gate.closed and order.completed and not member.stop:
            self._set(member, status="waiting_approval")

    def _agree(self, found: Team, member: TeamMember, asked: TeamRequest) -> None:
        """A member stops because it was asked to: what it had is free again, and whoever asked is told."""
        answer = TeamAnswer(
            request_id=asked.request_id, type=ANSWERS["shutdown"], responder=member.name, approve=True
        )
        reason = answerable(asked, answer)
        if reason is not None:
            raise refused(reason, asked)
        self._settle(member.user_id, asked, answer)
        team_requests.void(self._db, member.user_id, member.task_id, self._now)
        self._free(found, member, "the member was asked to stop")
        self._db.execute(
            "UPDATE team_mail SET acked_at = ? WHERE user_id = ? AND team_id = ? AND recipient = ?"
            " AND acked_at IS NULL",
            (self._now, member.user_id, found.team_id, member.name),
        )
        self._set(member, status="stopped")
        about = _about(asked) | {"approve": True}
        said = f"{member.name} has stopped; what it was at is back on the board."
        if asked.sender != LEAD:
            self._mail(found, member.name, asked.sender, "shutdown_response", said, about, read=True)
        self._mail(found, member.name, LEAD, "shutdown_response", said, about)

    def _settle(self, user_id: str, asked: TeamRequest, answer: TeamAnswer) -> None:
        status = "approved" if answer.approve else "rejected"
        team_requests.settle(
            *(self._db, user_id, asked.request_id, status, self._now),
            by=answer.responder,
            feedback=answer.feedback,
        )
        self.request = team_requests.request(self._db, user_id, asked.team_id, asked.request_id)

    def _made_request(
        self,
        found: Team,
        member: TeamMember,
        kind: RequestKind,
        content: str,
        call_key: str,
        *,
        sender: str,
        target: str,
        version: int = 0,
    ) -> TeamRequest:
        held = graph.held(self._db, member.user_id, owner_of(found.team_id, member.name))
        made = TeamRequest(
            request_id=new_id("req"),
            team_id=found.team_id,
            kind=kind,
            sender=sender,
            target=target,
            member=member.name,
            status="pending",
            content=content,
            work_version=version,
            created_at=self._now,
            item_id=None if held is None else held.item_id,
        )
        self.request = team_requests.add_request(self._db, member.user_id, made, member.task_id, call_key)
        return made

    def _mail(
        self,
        found: Team,
        sender: str,
        recipient: str,
        kind: MailType,
        content: str,
        about: dict[str, Any] | None,
        call_key: str = "",
        *,
        read: bool = False,
    ) -> None:
        everybody = teams.members(self._db, found.user_id, found.team_id)
        self._send(found, everybody, sender, recipient, kind, content, metadata=about, call_key=call_key)
        if read or recipient == PERSON:
            sent = self.outcome.mail[-1]
            self._db.execute(
                "UPDATE team_mail SET told_at = ?, acked_at = ? WHERE user_id = ? AND message_id = ?",
                (self._now, self._now, found.user_id, sent.message_id),
            )
            self.outcome = replace(self.outcome, mail=self.outcome.mail[:-1])

    def _mailed(self, found: Team, call_key: str) -> bool:
        sql = "SELECT 1 FROM team_mail WHERE user_id = ? AND team_id = ? AND call_key = ? LIMIT 1"
        return self._db.execute(sql, (found.user_id, found.team_id, call_key)).fetchone() is not None

    def _present(self, user_id: str, found: Team, name: str) -> TeamMember:
        member = self._member(user_id, found.team_id, name)
        if member.status == "stopped" or member.stop == "hard" or found.status != "active":
            raise refused("stopped", member=member.name)
        return member

    def _rests(self, member: TeamMember) -> bool:
        """Whether no turn of a member runs or waits."""
        sql = "SELECT status FROM threads WHERE user_id = ? AND task_id = ?"
        row = self._db.execute(sql, (member.user_id, member.task_id)).fetchone()
        return row is None or row[0] == "idle"


def _about(asked: TeamRequest) -> dict[str, Any]:
    return {"request_id": asked.request_id, "item_id": asked.item_id}
