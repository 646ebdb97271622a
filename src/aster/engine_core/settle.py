"""Settle: what a finished step means, and why the loop goes round again.

Every way round has a reason, an event and a budget of its own; a retry never looks like a normal step.
"""

import asyncio
import random

from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.events import ProviderFallback, TransitionReason, TurnTransition, UserMessage
from aster.contracts.llm import StopReason
from aster.contracts.turn import TurnState
from aster.engine_core import ledger, reminders
from aster.engine_core.agents.reach import most_steps
from aster.engine_core.ask import notify
from aster.engine_core.assemble import assemble
from aster.engine_core.compaction.orchestrator import overflowed
from aster.engine_core.recovery import CONTINUE, asked_again, narrowed
from aster.engine_core.recovery_media import without_refused
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended
from aster.engine_core.stutter import STEERS
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.herald.failure import HeraldError

TRANSPORT_RETRIES = 3
PAUSES = 20
BUDGET_CONTINUATIONS = 20
CIRCLES = 2
LITTLE_TOKENS = 500
LITTLE_IN_A_ROW = 3
LONGEST_WAIT = 60.0
SHORT_WAIT = 10.0
"""What is worth waiting when there is another model, or when nothing would be lost by an error."""

QUOTED = 120
REPEATING = (
    "Your answer was cut off because you repeat yourself: “{passage}…”. What you had written of it was discarded. Stop"
    " going over it again: decide with what you know, make your next tool call, or answer in a few sentences."
)
LAST_WORDS = "No tool runs any more in this turn: answer the person now with what you have."


async def settle(turn: Turn, services: Services) -> None:
    """Decide after a model call without open tool calls: return to go round again, or raise `Ended`."""
    state = turn.state
    if state.calls:
        if state.last_words:
            raise Ended(TransitionReason.LOOP_GUARD)
        if state.hook_stopped:
            raise Ended("hook_stopped")
        _limit(state, services)
        _after_tools(turn, services)
        return
    match state.stop_reason:
        case StopReason.PAUSE_TURN:
            _limit(state, services)
            _spend(turn, TransitionReason.PAUSE_TURN, PAUSES, "pause_turn")
        case StopReason.MAX_TOKENS:
            _limit(state, services)
            _continue_budget(turn, services)
        case reason:
            if not asked_again(turn, services):
                raise Ended(reason or StopReason.END_TURN)


def _after_tools(turn: Turn, services: Services) -> None:
    """Go on with the results, and with what the model should know about them."""
    state = turn.state
    circling = ledger.advice(state)
    if circling is None:
        said = [told(text) for text in reminders.due(state)]
        limit = most_steps(state, services.settings)
        _go_round(turn, TransitionReason.TOOL_RESULT_CONTINUATION, limit, *said)
        return
    attempt = CIRCLES if circling.final else 1
    services.raven.note("loop_guard", "warning", circling.text, attempt=attempt)
    transition = TurnTransition(
        reason=TransitionReason.LOOP_GUARD,
        step=state.step + 1,
        attempt=attempt,
        limit=CIRCLES,
        message=circling.text,
    )
    turn.write(transition, told(f"{circling.text} {LAST_WORDS}" if circling.final else circling.text))


def repeating(turn: Turn, services: Services, passage: str) -> None:
    """The model said the same thing over and over and was cut off: tell it and ask again; the next time is the end."""
    attempt = turn.state.transitions.get(TransitionReason.REPETITION, 0) + 1
    text = REPEATING.format(passage=" ".join(passage.split())[:QUOTED])
    services.raven.note("repetition", "warning", text, attempt=attempt)
    if attempt > STEERS:
        raise Ended(TransitionReason.LOOP_GUARD)
    transition = TurnTransition(
        reason=TransitionReason.REPETITION,
        step=turn.state.step + 1,
        attempt=attempt,
        limit=STEERS,
        message=text,
    )
    turn.write(transition, told(text))


async def failed(turn: Turn, services: Services, error: HeraldError) -> None:
    """A model call failed: wait and go round again if that may help, go on with the fallback model if that may,
    otherwise let the turn end with the error."""
    state = turn.state
    attempt = state.transitions.get(TransitionReason.TRANSPORT_RETRY, 0) + 1
    if without_refused(turn, services, error) or narrowed(turn, services, error):
        return
    if await overflowed(turn, services, error):
        return
    if not error.retryable:
        raise error
    delay = backoff(attempt) if error.retry_after is None else error.retry_after
    spent = attempt > TRANSPORT_RETRIES
    if (spent or error.resting or delay > SHORT_WAIT) and _fell_back(turn, services, error):
        return
    patience = SHORT_WAIT if error.resting and not state.model_calls else LONGEST_WAIT
    if spent or delay > patience:
        raise error
    if error.retry_after is not None:
        delay += min(1.0, delay / 4) * random.random()  # noqa: S311
    turn.write(
        TurnTransition(
            reason=TransitionReason.TRANSPORT_RETRY,
            step=state.step + 1,
            attempt=attempt,
            limit=TRANSPORT_RETRIES,
            delay_ms=round(delay * 1000),
            error=error.code,
            message=error.message,
        )
    )
    services.raven.note("llm_retry", "warning", error.message, kind=error.kind, attempt=attempt)
    await asyncio.sleep(delay)


def _fell_back(turn: Turn, services: Services, error: HeraldError) -> bool:
    """Go on with `FALLBACK_MODEL`, unless another model might do again what must not be done twice."""
    if turn.state.lasting_effects or turn.state.fallback_model == services.settings.fallback_model:
        return False
    request = assemble(turn, services)
    model = services.herald.fallback(request)
    if model is None:
        return False
    reason = "circuit_open" if error.resting else error.kind
    notify(turn, services, [ProviderFallback(from_model=request.model, to_model=model, reason=reason)])
    return True


def backoff(attempt: int) -> float:
    """0.5 s, 1 s, 2 s … up to 32 s, plus up to a quarter."""
    delay = min(0.5 * 2 ** (attempt - 1), 32.0)
    return delay * (1 + random.random() / 4)  # noqa: S311


def _limit(state: TurnState, services: Services) -> None:
    if state.model_calls >= most_steps(state, services.settings):
        raise Ended("max_turns")


def _go_round(turn: Turn, reason: TransitionReason, limit: int | None, *said: UserMessage) -> None:
    state = turn.state
    attempt = state.transitions.get(reason, 0) + 1
    turn.write(TurnTransition(reason=reason, step=state.step + 1, attempt=attempt, limit=limit), *said)


def _spend(turn: Turn, reason: TransitionReason, limit: int, exhausted: str, *said: UserMessage) -> None:
    if turn.state.transitions.get(reason, 0) >= limit:
        raise Ended(exhausted)
    _go_round(turn, reason, limit, *said)


def _continue_budget(turn: Turn, services: Services) -> None:
    """`TOKEN_BUDGET_ENABLED`: an answer cut off at `MAX_TOKENS` goes on by itself, while that yields something."""
    wanted = turn.state.request.options.max_tokens is None
    if not services.settings.token_budget_enabled or not wanted or _yields_little(turn.state):
        raise Ended(StopReason.MAX_TOKENS)
    reason = TransitionReason.BUDGET_CONTINUATION
    _spend(turn, reason, BUDGET_CONTINUATIONS, StopReason.MAX_TOKENS, told(CONTINUE))


def _yields_little(state: TurnState) -> bool:
    """The last few continuations each added next to nothing."""
    answers = [message for message in state.messages if message.role == "assistant"][-LITTLE_IN_A_ROW:]
    if len(answers) < LITTLE_IN_A_ROW:
        return False
    return all(
        sum(len(block.text) for block in message.content if isinstance(block, TextBlock)) < LITTLE_TOKENS * 4
        and not any(isinstance(block, ToolUseBlock) for block in message.content)
        for message in answers
    )
