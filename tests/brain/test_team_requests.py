"""Requests in a team: made and answered once, and a gate that only the right answer opens."""

import pytest

from aster.brain.protocol import Brain
from aster.brain.team_requests import AnswerRequest, AskPlan, AskShutdown, AtRest, RequestOrder, SubmitPlan
from aster.contracts.errors import EngineError
from aster.contracts.team_requests import TeamAnswer, TeamRequest
from tests.brain.test_teams import LEAD, TEAM, do, member, spawn


async def ask(brain: Brain, order: RequestOrder) -> TeamRequest:
    found = await brain.team_requests.do(order, LEAD, await brain.teams.threads("ada", TEAM))
    assert found is not None
    return found


async def refused(brain: Brain, order: RequestOrder) -> str:
    with pytest.raises(EngineError) as caught:
        await ask(brain, order)
    return str((caught.value.details or {})["reason"])


def answer(request_id: str, responder: str = "person", approve: bool = True) -> AnswerRequest:
    said = TeamAnswer(
        request_id=request_id, type="plan_approval_response", responder=responder, approve=approve, feedback="so"
    )
    return AnswerRequest(user_id="ada", team_id=TEAM, answer=said)


def plan(text: str = "Dig, then look.") -> SubmitPlan:
    return SubmitPlan(user_id="ada", task_id="agent-Ada", plan=text, reviewer="person")


async def status(brain: Brain) -> str:
    gate = await brain.team_requests.gate("ada", "agent-Ada")
    return "none" if gate is None else gate.status


async def test_a_plan_is_asked_for_handed_in_and_answered_once(brain: Brain) -> None:
    await do(brain, spawn(member("Ada")))
    assert await status(brain) == "none"
    assert await refused(brain, plan()) == "not_required"
    await brain.team_requests.do(
        AskPlan(user_id="ada", team_id=TEAM, member="Ada", sender="person"),
        LEAD,
        await brain.teams.threads("ada", TEAM),
    )
    assert await status(brain) == "required"
    first = await ask(brain, plan())
    assert (await status(brain), first.status) == ("pending", "pending")
    assert await refused(brain, plan()) == "already_pending"
    assert await refused(brain, answer(first.request_id, "lead")) == "wrong_responder"
    assert await refused(brain, answer("req-none")) == "unknown_request"
    assert await status(brain) == "pending"
    assert (await ask(brain, answer(first.request_id, approve=False))).status == "rejected"
    assert await status(brain) == "rejected"
    assert await refused(brain, answer(first.request_id)) == "already_settled"
    second = await ask(brain, plan("Look, then dig."))
    await ask(brain, answer(second.request_id))
    assert await status(brain) == "approved"
    assert [one.status for one in await brain.team_requests.requests("ada", TEAM, limit=9)] == [
        "approved",
        "rejected",
    ]
    assert [one.member for one in await brain.team_requests.gates("ada", TEAM)] == ["Ada"]
    assert await brain.team_requests.request("eve", TEAM, first.request_id) is None
    assert await brain.team_requests.gate("eve", "agent-Ada") is None


async def test_who_rests_and_is_asked_to_stop_is_gone(brain: Brain) -> None:
    await do(brain, spawn(member("Ada")))
    await ask(brain, AskShutdown(user_id="ada", team_id=TEAM, member="Ada", sender="person"))
    threads = await brain.teams.threads("ada", TEAM)
    await brain.team_requests.do(AtRest(user_id="ada", task_id="agent-Ada", idle=True), LEAD, threads)
    [stopped] = await brain.teams.members("ada", TEAM)
    assert stopped.status == "stopped"
    [found] = await brain.team_requests.requests("ada", TEAM, limit=9, kind="shutdown")
    assert found.status == "approved"
