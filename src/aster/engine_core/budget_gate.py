"""The gate before a model call: what it may cost is set aside, or a person is asked, or the turn stops.

The ladder, by what is spent and what the call may cost: from 80 % of a budget on the light model is asked, at 95 %
a person is asked first, beyond 100 % the turn is parked until somebody allows more. The gate decides by the turn's
state and the brain alone, so a turn that comes back after an answer or a restart stands before the same gate.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from aster.brain.holds import Cap, HoldRow, Purse
from aster.contracts.budgets import BudgetCase, BudgetRung
from aster.contracts.events import BudgetEvent, HitlRequest
from aster.contracts.llm import ModelRequest
from aster.contracts.model import to_builtins
from aster.contracts.turn import TurnState
from aster.engine_core.agents.allowance import granted
from aster.engine_core.budget import NAMES, Day, Line, exhausted, usd
from aster.engine_core.holding import Account
from aster.engine_core.services import Services
from aster.engine_core.signals import Suspended
from aster.engine_core.turn import Turn
from aster.herald.estimate import most_usd
from aster.infra.clock import now_iso, now_ms
from aster.infra.ids import new_id

WARN, ASK = 0.8, 0.95
LEAST_MORE = 0.01
TINY = 1e-9
"""Sums of fractions of a cent are not exact; a budget is not exceeded by less than this."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a budget stands: `ceiling` is its limit, or what a person allowed this turn beyond it."""

    line: Line
    ceiling: float
    spent: float

    def reaches(self, share: float, estimate: float) -> bool:
        return self.spent + estimate >= share * self.ceiling - TINY

    def exceeded(self, estimate: float) -> bool:
        return self.spent + estimate > self.ceiling + TINY or self.spent >= self.ceiling - TINY

    def fits(self, purse: Purse, estimate: float) -> bool:
        return self.spent + purse.held(self.line.scope) + estimate <= self.ceiling + TINY

    def cap(self, turn: Turn) -> Cap:
        root = root_of(turn) if self.line.scope == "turn" else None
        return Cap(self.line.scope, self.ceiling, self.spent, root)


@asynccontextmanager
async def reserved(turn: Turn, services: Services, request: ModelRequest) -> AsyncGenerator[ModelRequest, None]:
    """Set aside what a call may cost for as long as it runs; gives back the request to make.

    Raises `Suspended` when a person has to be asked, and `EngineError` when a person said no.
    """
    if not services.budgets.lines(turn.home) and not turn.state.budget_questions:
        yield request
        return
    await turn.flush()
    holding = services.budgets.holding
    account = holding.account(turn.key.user_id)
    async with account.door:
        request, hold = await _passed(turn, services, account, request)
    try:
        yield request
    finally:
        if hold is not None:
            turn.when_durable(lambda: holding.release(hold))


async def _passed(
    turn: Turn, services: Services, account: Account, request: ModelRequest
) -> tuple[ModelRequest, HoldRow | None]:
    """Wait until the call fits beside those under way; the request to make and what is held for it."""
    asked = request
    while True:
        account.freed.clear()
        day = services.budgets.today()
        purse = await services.brain.purse(turn.home, day.start_ms, now_ms())
        stands = await _stands(turn, services, purse, day)
        request, estimate = _chosen(turn, services, stands, asked, day)
        _climb(turn, services, stands, estimate, day)
        if not stands:
            return request, None
        if all(stand.fits(purse, estimate) for stand in stands):
            caps = [stand.cap(turn) for stand in stands]
            hold = await services.budgets.holding.hold(turn.home, turn.turn_id, estimate, caps, day.start_ms)
            if hold is not None:
                return request, hold
            continue
        await account.wait()


async def _stands(turn: Turn, services: Services, purse: Purse, day: Day) -> list[Stand]:
    used = {"user": purse.user, "task": purse.task, "turn": await turn_spent(turn)}
    return [
        Stand(line, _ceiling(turn.state, line, day), used[line.scope]) for line in services.budgets.lines(turn.home)
    ]


async def turn_spent(turn: Turn) -> float:
    """What a person's turn has spent, with all the sub-agents it led to."""
    root = root_of(turn)
    if root is None:
        return turn.state.cost_usd
    _, spent = await turn.brain.offspring(turn.home, root)
    return spent


def root_of(turn: Turn) -> str | None:
    """The person's turn whose sub-agents spend beside it; None when it is this one, and it has none."""
    parent = turn.state.request.parent
    if parent is not None:
        return parent.root_turn_id
    return turn.turn_id if turn.state.spawned else None


def _ceiling(state: TurnState, line: Line, day: Day) -> float:
    allowed = (case.up_to_usd for case in granted(state) if case.rung == "exceeded" and _concerns(case, line, day))
    return max(line.limit, *allowed, 0.0)


def _concerns(case: BudgetCase, line: Line, day: Day) -> bool:
    return (case.scope, case.owner) == (line.scope, line.owner) and case.day in (None, day.name)


def _chosen(
    turn: Turn, services: Services, stands: list[Stand], request: ModelRequest, day: Day
) -> tuple[ModelRequest, float]:
    """The request with the model this budget still pays for, and the most it may cost; warns when it is short."""
    estimate = most_usd(request, day.name)
    if estimate is None and not turn.state.model_calls:
        message = "the model has no known price, so its calls count for no budget; set one with MODEL_FACTS_PATH"
        services.raven.note("budget_unpriced", "warning", message, model=request.model)
    short = [stand for stand in stands if stand.reaches(WARN, estimate or 0.0)]
    for scope in NAMES:
        _warn(turn, [stand for stand in short if stand.line.scope == scope])
    light = services.herald.light(request) if short else None
    if light is not None:
        request = msgspec.structs.replace(request, model=light, firm=True)
        estimate = most_usd(request, day.name)
    return request, estimate or 0.0


def _warn(turn: Turn, short: list[Stand]) -> None:
    """Say that a budget is short, once for each ceiling it has in this turn."""
    if not short:
        return
    stand = min(short, key=lambda item: item.ceiling)
    if turn.state.budget_warned.get(stand.line.scope) != stand.ceiling:
        turn.write(BudgetEvent(scope=stand.line.scope, status="warning", limit=stand.ceiling, spent=stand.spent))


def _climb(turn: Turn, services: Services, stands: list[Stand], estimate: float, day: Day) -> None:
    """Return when the call may be made as far as its budgets go; otherwise ask, wait or stop."""
    questions = turn.state.budget_questions
    if questions and questions[-1].answer is None:
        raise Suspended
    if questions and questions[-1].answer is not None and questions[-1].answer.approved is False:
        case = questions[-1].case
        raise exhausted(case.scope, case.limit_usd, case.spent_usd, day)
    for stand in stands:
        if stand.exceeded(estimate):
            event = BudgetEvent(scope=stand.line.scope, status="exceeded", limit=stand.ceiling, spent=stand.spent)
            turn.write(event)
            _ask(turn, services, _case(stand, "exceeded", estimate, day))
    for stand in stands:
        if stand.reaches(ASK, estimate) and not _agreed(turn.state, stand, day):
            _ask(turn, services, _case(stand, "ask", estimate, day))


def _agreed(state: TurnState, stand: Stand, day: Day) -> bool:
    """A person has said that this budget may be used up to this ceiling."""
    return any(
        _concerns(case, stand.line, day) and case.up_to_usd >= stand.ceiling - TINY for case in granted(state)
    )


def _case(stand: Stand, rung: BudgetRung, estimate: float, day: Day) -> BudgetCase:
    more = max(stand.line.limit, LEAST_MORE) if rung == "exceeded" else 0.0
    return BudgetCase(
        scope=stand.line.scope,
        owner=stand.line.owner,
        rung=rung,
        limit_usd=stand.ceiling,
        spent_usd=stand.spent,
        estimate_usd=estimate,
        up_to_usd=max(stand.ceiling, stand.spent + estimate) + more,
        day=day.name if stand.line.scope == "user" else None,
    )


def _ask(turn: Turn, services: Services, case: BudgetCase) -> None:
    """Put the question on the thread and leave; the turn costs nothing while it waits. A replay, or one that is shut
    in, asks nobody: it ends."""
    if turn.state.request.replay is not None or turn.state.request.isolated:
        raise exhausted(case.scope, case.limit_usd, case.spent_usd, services.budgets.today())
    request = HitlRequest(
        request_id=new_id("hitl"),
        kind="budget",
        question=question_of(case),
        input=to_builtins(case),
        options=("yes", "no"),
        reason=f"budget_{case.rung}",
        created_at=now_iso(),
    )
    turn.write(request)
    services.raven.hitl_opened("budget")
    services.raven.note("budget", "warning", request.question, scope=case.scope, rung=case.rung)
    raise Suspended


def question_of(case: BudgetCase) -> str:
    stands = (
        f"{usd(case.spent_usd)} of the {usd(case.limit_usd)} for {NAMES[case.scope]} are spent, and the next model"
        f" call may cost up to {usd(case.estimate_usd)}."
    )
    if case.rung == "ask":
        return f"{stands} Go on?"
    if case.owner == "operator" and case.scope != "turn":
        return f"{stands} The operator can raise the budget, or allow up to {usd(case.up_to_usd)} here. Go on?"
    return f"{stands} Go on, up to {usd(case.up_to_usd)}?"
