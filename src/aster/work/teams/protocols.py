"""The protocols of a team as somebody in it has them: a member, the lead, or a person over HTTP.

Who that is, and how a change gets onto the threads, is settled when the desk is made; what is asked of it is held
against the rules and becomes one order, which is made whole or not at all.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from aster.brain.team_requests import AnswerRequest, AskPlan, AskShutdown, RequestOrder, SubmitPlan, refused
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.team_requests import (
    FEEDBACK_CHARS,
    PLAN_CHARS,
    PlanReviewer,
    ResponseType,
    TeamAnswer,
    TeamRequest,
)

Do: TypeAlias = Callable[[RequestOrder], Awaitable[TeamRequest | None]]
"""Makes a change, with what tells of it on the threads of the team."""


@dataclass(frozen=True, slots=True)
class ProtocolDesk:
    """`name` is who asks and answers here, in the team `team_id`; `clean` takes secrets out."""

    user_id: str
    team_id: str
    name: str
    task_id: str
    do: Do
    clean: Callable[[str], str]
    reviewer: PlanReviewer = "person"
    call_key: str = ""

    async def submit_plan(self, plan: str, *, asking: str = "") -> TeamRequest:
        """Hand in a plan; where a person reviews it, they are asked in the middle of the call `asking`, if there is
        one."""
        said = self._said("plan", plan, PLAN_CHARS)
        if not said.strip():
            raise _unfit("plan", "has to say something")
        order = SubmitPlan(
            user_id=self.user_id,
            task_id=self.task_id,
            plan=said,
            reviewer=self.reviewer,
            call_key=self.call_key,
            tool_call_id=asking,
        )
        return _made(await self.do(order))

    async def review_plan(
        self, request_id: str, member: str, approve: bool, feedback: str | None = None
    ) -> TeamRequest:
        return await self.answer(request_id, "plan_approval_response", approve, feedback, recipient=member)

    async def answer(
        self,
        request_id: str,
        kind: ResponseType,
        approve: bool,
        feedback: str | None = None,
        *,
        recipient: str = "",
        asked: bool = False,
    ) -> TeamRequest:
        """Answer a request; it counts once, and only as what it is and from whom it was asked."""
        answer = TeamAnswer(
            request_id=request_id,
            type=kind,
            responder=self.name,
            approve=approve,
            recipient=recipient,
            feedback=self._said("feedback", feedback or "", FEEDBACK_CHARS) or None,
        )
        order = AnswerRequest(user_id=self.user_id, team_id=self.team_id, answer=answer, asked=asked)
        return _made(await self.do(order))

    async def request_plan(self, member: str, reason: str = "") -> None:
        order = AskPlan(
            user_id=self.user_id,
            team_id=self.team_id,
            member=member,
            sender=self.name,
            reason=self._said("reason", reason, FEEDBACK_CHARS),
            call_key=self.call_key,
        )
        await self.do(order)

    async def request_shutdown(self, member: str, reason: str = "") -> TeamRequest:
        order = AskShutdown(
            user_id=self.user_id,
            team_id=self.team_id,
            member=member,
            sender=self.name,
            reason=self._said("reason", reason, FEEDBACK_CHARS),
            call_key=self.call_key,
        )
        return _made(await self.do(order))

    def _said(self, field: str, text: str, most: int) -> str:
        if len(text) > most:
            raise _unfit(field, f"has {len(text)} characters; {most} are the most")
        return self.clean(text)


def _made(found: TeamRequest | None) -> TeamRequest:
    if found is None:
        raise refused("unknown_request")
    return found


def _unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}.",
        {"fields": [{"field": field, "problem": problem}]},
    )
