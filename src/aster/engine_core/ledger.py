"""The ledger of a turn: what its calls came to, and when repeating them has become pointless.

It is part of the fold, so a restart remembers it. A call that failed twice the same way is not run a third time; a
look that shows the same thing again and again is pointed out and then ended; so is a row of failures. A change
that worked clears the account, because the world is another one then. Steps that all open with the same thought are
told so like any other circle.
"""

import hashlib
from typing import NamedTuple

import msgspec

from aster.contracts.events import ToolResult, TransitionReason
from aster.contracts.tools import PLAN_BLOCKED, Effect, OutcomeClass, ToolCall, ToolOutcome
from aster.contracts.turn import CallState, Ledger, Tally, TurnState
from aster.engine_core import openings
from aster.engine_core.verifying.record import done_before

SAME_FAILURE = 2
SAME_RESULT = 3
MOST_REPEATS = 12
MOST_STRIKES = 6
MOST_FAILURES = 8
MOST_REFUSALS = 2

REPEATED_FAILURE = "repeated_failure"
NO_MORE_TOOLS = "no_more_tools"
HELD = "held"
"""A person had to be asked something before the call, and the model decides anew by the answer."""
_NOT_A_STRIKE = frozenset(("permission_denied", "cancelled", "in_doubt", "hook_blocked", HELD, REPEATED_FAILURE))


def fingerprint(call: ToolCall) -> str:
    """The same for every call that asks for the same."""
    canonical = msgspec.json.encode([call.name, call.input], order="deterministic")
    return hashlib.sha1(canonical, usedforsecurity=False).hexdigest()


def record(ledger: Ledger, call: CallState, result: ToolResult) -> None:
    """Enter what a call came to."""
    key = fingerprint(call.call)
    if result.error == REPEATED_FAILURE:
        ledger.refusals += 1
        return
    _strike(ledger, call, result)
    if result.error == PLAN_BLOCKED:
        return
    if changed(call, result):
        openings.changed(ledger, key)
        own = ledger.tallies.get(key)
        ledger.tallies = {} if own is None else {key: own}
        ledger.refusals = 0
        if call.effect is Effect.REVERSIBLE:
            return
    shown = hashlib.sha1(f"{result.error}\0{result.output}".encode(), usedforsecurity=False).hexdigest()
    before = ledger.tallies.get(key)
    again = before.count if before is not None and before.result == shown else 0
    error = None if result.error is None else result.output[:400]
    ledger.tallies[key] = Tally(result=shown, count=again + 1, error=error)


def changed(call: CallState, result: ToolResult) -> bool:
    """Whether the call did something to the world that makes it worth trying again what failed before."""
    return result.error is None and call.effect is not None and not call.effect.repeatable


def pivot(ledger: Ledger) -> None:
    """The model has been told; it gets as many tries again before the last word."""
    ledger.strikes = ledger.transient = ledger.refusals = ledger.openings = 0


def strike(result: ToolResult) -> bool:
    """Whether a call failed in a way that speaks against what the model is trying."""
    return result.error is not None and result.error not in _NOT_A_STRIKE


def _strike(ledger: Ledger, call: CallState, result: ToolResult) -> None:
    if result.error is None:
        ledger.transient = 0
        ledger.strikes = max(0, ledger.strikes - 1)
    elif call.failure is OutcomeClass.RETRYABLE:
        ledger.transient += 1
    elif strike(result):
        ledger.strikes += 1


def refusal(state: TurnState, call: ToolCall, setter: bool) -> ToolOutcome | None:
    """Why a call is not run (again), as its outcome; None if it may."""
    if state.last_words:
        return ToolOutcome.error(
            "No tool runs any more in this turn. Answer the person now with what you have.",
            reason=NO_MORE_TOOLS,
            failure=OutcomeClass.FATAL,
        )
    if (done := done_before(state, call)) is not None:
        return done
    tally = state.ledger.tallies.get(fingerprint(call))
    if tally is None:
        return None
    if tally.error is not None and tally.count >= SAME_FAILURE:
        return ToolOutcome.error(
            f"Not run: the same call has failed {tally.count} times in the same way and nothing has changed since. "
            f"The error was:\n{tally.error}\nChange the input, fix the cause first, or find another way.",
            reason=REPEATED_FAILURE,
            failure=OutcomeClass.FATAL,
        )
    if setter and tally.error is None:
        return ToolOutcome.text("Done before in this turn, with the same input; nothing needed to be done again.")
    return None


class Advice(NamedTuple):
    """What to tell a model that goes in circles; `final` when it has been told before and nothing came of it."""

    text: str
    final: bool


def advice(state: TurnState) -> Advice | None:
    """What to tell the model after this step, if anything."""
    ledger, told = state.ledger, state.transitions.get(TransitionReason.LOOP_GUARD, 0) > 0
    for call in state.calls.values():
        tally = ledger.tallies.get(fingerprint(call.call))
        if tally is None or tally.error is not None:
            continue
        if tally.count == SAME_RESULT or tally.count >= MOST_REPEATS:
            text = (
                f"You have called `{call.call.name}` with the same input {tally.count} times with the same result. "
                "Calling it again will not change it. Use what it says, try something else, or answer."
            )
            return Advice(text, tally.count >= MOST_REPEATS)
    if ledger.refusals >= MOST_REFUSALS:
        text = "You keep repeating calls that have failed. Try something else, or answer with what you know."
        return Advice(text, told)
    if ledger.strikes >= MOST_STRIKES or ledger.strikes + ledger.transient >= MOST_FAILURES:
        text = (
            "Most of your last tool calls failed. Stop and think about why; if there is no other way, say plainly "
            "what does not work and what you have so far."
        )
        return Advice(text, told)
    if ledger.openings >= openings.SAME_OPENINGS:
        text = (
            f"Your last {ledger.openings} steps all began with the same thought. Say in a few words what you know now"
            " that you did not know before, then take a different step, or answer with what you have."
        )
        return Advice(text, told)
    return None
