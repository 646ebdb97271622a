"""Errands: model calls that belong to a task but are no step of a turn, such as for its title.

An errand is paid for by the user whose task it is for, and is left undone where a person would have to be asked for
the money. What it used is written down, also when it was cut off. One that nobody waits for stands back behind the
calls of turns.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import msgspec

from aster.brain.holds import Cap
from aster.brain.records import ThreadKey, UsageRow
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import CircuitState, Event, ProviderFallback, Usage
from aster.contracts.events.money import Purpose
from aster.contracts.llm import LLMResponse, ModelRequest, TokenUsage
from aster.engine_core.budget import exhausted
from aster.engine_core.budget_gate import ASK, TINY
from aster.engine_core.services import Services
from aster.engine_core.unfinished import cut_off
from aster.herald.estimate import cut_off_usage, most_usd
from aster.herald.failure import HeraldError
from aster.herald.gateway import whole
from aster.herald.profiles import cost_usd
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.raven.raven import Raven


async def run(services: Services, key: ThreadKey, request: ModelRequest, purpose: Purpose = "step") -> LLMResponse:
    """Make a call for a task when there is time for it; raises `EngineError` when it fails or may not be made."""
    async with services.herald.background.place():
        request = msgspec.structs.replace(request, background=True)
        return await made(services, key, request, partial(_count, services, key, purpose))


Count: TypeAlias = Callable[[Usage, Callable[[], None]], None]
"""Writes down what a call used, and gives back the money held for it once that is durable."""


async def made(
    services: Services, key: ThreadKey, request: ModelRequest, count: Count, turn_usd: float | None = None
) -> LLMResponse:
    """Make a call that is no step, now; `turn_usd` is what the turn it is made in has spent."""
    request = services.herald.assigned(request)
    release = await _reserve(services, key, request, turn_usd)
    began = time.perf_counter()
    call = services.herald.stream(request)
    outcome, tokens, used = "cancelled", TokenUsage(), None
    try:
        response = await whole(call)
        outcome, tokens, used = "ok", response.usage, _usage(services, response, call.endpoint)
        return response
    except BaseException as error:
        outcome = error.kind if isinstance(error, HeraldError) else outcome
        if call.so_far.begun:
            tokens = cut_off_usage(request, call.so_far)
            used = cut_off(services, call.model, tokens, step=0, why=outcome)
        raise
    finally:
        seconds, cost = time.perf_counter() - began, used.cost_usd if used is not None else None
        services.raven.model_called(call.model, seconds, None, tokens, cost, outcome)
        _tell(services.raven, call.notices())
        if used is None:
            release()
        else:
            count(used, release)


async def affordable(services: Services, key: ThreadKey, request: ModelRequest, turn_usd: float) -> bool:
    """Whether a turn that has spent so much could make a call without a person being asked for its money."""
    try:
        await _capped(services, key, most_usd(request, services.budgets.today().name) or 0.0, turn_usd)
    except EngineError:
        return False
    return True


async def _reserve(
    services: Services, key: ThreadKey, request: ModelRequest, turn_usd: float | None
) -> Callable[[], None]:
    """Set aside what the call may cost; what gives it back is returned."""
    day, holding = services.budgets.today(), services.budgets.holding
    estimate = most_usd(request, day.name) or 0.0
    caps = await _capped(services, key, estimate, turn_usd)
    if not caps:
        return lambda: None
    async with holding.account(key.user_id).door:
        hold = await holding.hold(key, "", estimate, caps, day.start_ms)
        if hold is None:
            await _capped(services, key, estimate, turn_usd)
            raise EngineError(ErrorCode.BUDGET_EXCEEDED, "Other calls under way leave no money for this one.")
    return lambda: holding.release(hold)


async def _capped(services: Services, key: ThreadKey, estimate: float, turn_usd: float | None) -> list[Cap]:
    """What a call may bring spending up to without a person being asked; refused when it would be more."""
    day = services.budgets.today()
    lines = [line for line in services.budgets.lines(key) if line.scope != "turn" or turn_usd is not None]
    if not lines:
        return []
    purse = await services.brain.purse(key, day.start_ms, now_ms())
    so_far = {"user": purse.user, "task": purse.task, "turn": turn_usd or 0.0}
    for line in lines:
        used = so_far[line.scope]
        if used + purse.held(line.scope) + estimate >= ASK * line.limit - TINY:
            raise exhausted(line.scope, line.limit, used, day)
    return [Cap(line.scope, ASK * line.limit - 2 * TINY, so_far[line.scope]) for line in lines]


def _usage(services: Services, response: LLMResponse, endpoint: str | None) -> Usage:
    used = response.usage
    return Usage(
        step=0,
        message_id=new_id("msg"),
        model=response.model,
        stop_reason=response.stop_reason,
        input_tokens=used.input_total,
        output_tokens=used.output,
        cache_hit_tokens=used.cache_read,
        cache_write_tokens=used.cache_write,
        cost_usd=cost_usd(response.model, used, services.budgets.today().name),
        endpoint=endpoint,
    )


def _count(services: Services, key: ThreadKey, purpose: Purpose, used: Usage, release: Callable[[], None]) -> None:
    """Write down what the call used; its money is held until that is durable."""
    used = msgspec.structs.replace(used, purpose=purpose)

    def gone(done: "asyncio.Future[list[Event]]") -> None:
        error = None if done.cancelled() else done.exception()
        if isinstance(error, Conflict):
            services.brain.put(_row(key, used)).add_done_callback(lost)
        else:
            lost(done)

    def lost(done: "asyncio.Future[list[Event]]") -> None:
        release()
        if not done.cancelled() and (error := done.exception()) is not None:
            services.raven.note("usage_lost", "error", f"What a background call used was not written: {error}")

    services.brain.append(key, None, [used], guard=Present()).add_done_callback(gone)


def _row(key: ThreadKey, used: Usage) -> UsageRow:
    return UsageRow(
        user_id=key.user_id,
        task_id=key.task_id,
        model=used.model,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_hit_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cost_usd=used.cost_usd,
        ts=now_ms(),
    )


def _tell(raven: Raven, notices: list[Event]) -> None:
    """What happened to the endpoints is for the operator alone: it happened on nobody's thread."""
    for notice in notices:
        if isinstance(notice, CircuitState):
            raven.circuit_changed(notice.endpoint, notice.state)
        elif isinstance(notice, ProviderFallback):
            raven.fell_back(notice.from_model, notice.to_model, notice.reason)
