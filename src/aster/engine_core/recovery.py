"""Recovery: what to do with an answer that was cut off, says nothing, or only announces what it would do.

Each kind has a counter, a limit and a reason of its own on the thread, and ends honestly when the limit is reached.
An answer that was cut off is asked for once more with more room, unless so much of it has been read that taking it
back would be worse for the reader than going on; after that it goes on where it stopped, a few times.
"""

import re
from typing import Final

from aster.contracts.blocks import text_of
from aster.contracts.events import TransitionReason, TurnTransition
from aster.contracts.llm import StopReason
from aster.contracts.turn import TurnState
from aster.engine_core.agents.reach import most_steps
from aster.engine_core.ask import discarded
from aster.engine_core.assemble import assemble
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.profiles import profile_of

CALL_RETRIES: Final = 3
CONTINUATIONS: Final = 3
ROOMIER: Final = 4
READ_CHARS: Final = 8_000
"""A reader who has this much of an answer before them keeps it."""
EMPTY: Final = "empty_answer"
"""The stop reason of a turn whose model had nothing to say, twice."""

CONTINUE: Final = (
    "Your answer was cut off at the output limit. Go on exactly where it stopped: "
    "no apology, no recap, no repetition."
)
ANSWER_NOW: Final = "All the room for your answer went into thinking. Think less this time, and answer."
SMALLER: Final = (
    "Your tool call was cut off at the output limit and was not run. "
    "Do the same in smaller pieces, several calls if need be."
)
SAY_SOMETHING: Final = (
    "Your answer was empty: the person saw nothing. Answer them in words now, also if there is only little to say,"
    " or call a tool if something is still to be done."
)
NOTHING_RAN: Final = (
    "You announced an action, but your message held no tool call, so nothing was done. Call the tool now; if there is"
    " nothing to do, answer the person instead."
)

_ENDS: Final = frozenset((StopReason.END_TURN, StopReason.STOP_SEQUENCE))
_TOO_MUCH: Final = frozenset((FailureKind.BAD_REQUEST, FailureKind.OVERFLOW))

_ANNOUNCEMENT_CHARS: Final = 800
_ANNOUNCEMENT_WORDS: Final = 100
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_PROMISE = re.compile(
    r"\W*(?:(?:ok(?:ay)?|sure|alright|great|certainly|of course|understood|right|now|then)\b\W+){0,3}"
    r"(?:i['’]ll|i will|i['’]m going to|i am going to|let me)\s+"
    r"(?:(?:now|just|quickly|first|then|go ahead and|start by|begin by)\s+){0,3}(\w+)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_DEEDS = frozenset(
    (
        *("execute", "run", "search", "fetch", "browse", "grep", "download", "install"),
        *("executing", "running", "searching", "fetching", "browsing", "downloading", "installing"),
    )
)
_OFTEN_DEEDS = frozenset(
    ("check", "read", "open", "list", "create", "write", "edit", "update", "delete", "inspect")
)
_AT_ONCE = re.compile(r"\b(?:now|right away|at once|immediately)\b|(?:\.\.\.|…|:)\W*$", re.IGNORECASE)
_NOT_YET = re.compile(
    r"\b(?:if|once|when|whenever|unless|after|until|later|tomorrow|next \w+|from now on)\b"
    r"|\b(?:let you|you['’]d|you (?:can|could|want|would|need|like|should))\b|\?\W*$",
    re.IGNORECASE,
)


async def truncated(turn: Turn, services: Services) -> bool:
    """An answer was cut off at the output limit: whether it is asked for again, or goes on. Once it has done both as
    often as it may, it stays as it is."""
    state, settings = turn.state, services.settings
    broken = any(call.invalid for call in state.calls.values())
    if state.stop_reason != StopReason.MAX_TOKENS or (state.calls and not broken):
        return False
    attempt = state.transitions.get(TransitionReason.MAX_TOKENS_RECOVERY, 0) + 1
    if broken:
        await _call_again(turn, services, attempt)
        return True
    if settings.token_budget_enabled or state.model_calls >= most_steps(state, settings):
        return False
    if state.request.options.max_tokens is not None:
        return False
    if services.herald.endpoint.protocol == "local_chat":
        return False  # a small model that rambles would keep the machine busy for minutes and say no more
    said = answer_of(state)
    larger = _larger(turn, services) if attempt == 1 and len(said) < READ_CHARS else None
    if larger is not None:
        recovery = await discarded(turn, state.step, "max_tokens")
        turn.write(recovery, _transition(state.step, attempt, 1 + CONTINUATIONS, larger))
        return True
    limit = CONTINUATIONS + (state.max_tokens is not None)
    if attempt > limit:
        return False
    hint = told(CONTINUE if said.strip() else ANSWER_NOW)
    turn.write(_transition(state.step + 1, attempt, limit), hint)
    return True


async def _call_again(turn: Turn, services: Services, attempt: int) -> None:
    """A tool call was cut off: half of it is worth nothing, so it is taken back, however much was said beside it.
    It gets more room, unless a client said how much there is."""
    state, step = turn.state, turn.state.step
    recovery = await discarded(turn, step, "max_tokens")
    if attempt > CALL_RETRIES:
        turn.write(recovery)
        raise Ended(StopReason.MAX_TOKENS)
    wished = state.request.options.max_tokens is not None
    larger = None if wished else _larger(turn, services)
    current = None if wished else state.max_tokens or services.settings.max_tokens
    hint = [told(SMALLER)] if larger is None or attempt > 1 else []
    turn.write(recovery, _transition(step, attempt, CALL_RETRIES, larger or current), *hint)


def _larger(turn: Turn, services: Services) -> int | None:
    """More room for the same answer; None when the model has no more."""
    current = turn.state.max_tokens or services.settings.max_tokens
    profile = profile_of(assemble(turn, services).model)
    most = profile.max_output if profile.known else profile.context_window // 2
    larger = min(current * ROOMIER, most)
    return larger if larger > current else None


def narrowed(turn: Turn, services: Services, error: HeraldError) -> bool:
    """An endpoint refused the larger room itself: it is asked with the usual one, as part of the same recovery."""
    state, usual = turn.state, services.settings.max_tokens
    last = state.transition
    if last is None or last.reason is not TransitionReason.MAX_TOKENS_RECOVERY or error.kind not in _TOO_MUCH:
        return False
    if state.max_tokens is None or state.max_tokens <= usual:
        return False
    transition = TurnTransition(
        reason=last.reason,
        step=state.step + 1,
        attempt=last.attempt + 1,
        limit=1 + CONTINUATIONS,
        error=error.code,
        message=error.message,
        max_tokens=usual,
    )
    turn.write(transition)
    return True


def asked_again(turn: Turn, services: Services) -> bool:
    """The model wants to end: whether it is told once that it said nothing, or did not do what it announced."""
    state = turn.state
    if state.stop_reason not in _ENDS or state.model_calls >= most_steps(state, services.settings):
        return False
    said = answer_of(state)
    if not said.strip():
        if state.transitions.get(TransitionReason.EMPTY_ANSWER, 0):
            raise Ended(EMPTY)
        _once(turn, services, TransitionReason.EMPTY_ANSWER, SAY_SOMETHING)
        return True
    warned = state.transitions.get(TransitionReason.MISSING_CALL, 0) or state.last_words
    if warned or not announces(said) or not services.tools.registry.names:
        return False
    _once(turn, services, TransitionReason.MISSING_CALL, NOTHING_RAN)
    return True


def announces(text: str) -> bool:
    """Whether a short answer ends with the promise to act at once, as if a tool call were to follow."""
    text = text.strip()
    if len(text) > _ANNOUNCEMENT_CHARS or len(text.split()) >= _ANNOUNCEMENT_WORDS:
        return False
    sentence = _SENTENCE.split(text)[-1]
    promise = _PROMISE.match(sentence)
    if promise is None or _NOT_YET.search(sentence):
        return False
    deed = promise[1].lower()
    return deed in _DEEDS or (deed in _OFTEN_DEEDS and _AT_ONCE.search(promise[2]) is not None)


def answer_of(state: TurnState) -> str:
    """What the newest model call said in words."""
    last = state.messages[-1] if state.messages else None
    return text_of(last.content) if last is not None and last.role == "assistant" else ""


def _once(turn: Turn, services: Services, reason: TransitionReason, text: str) -> None:
    services.raven.note(reason, "warning", text)
    turn.write(TurnTransition(reason=reason, step=turn.state.step + 1, limit=1), told(text))


def _transition(step: int, attempt: int, limit: int, max_tokens: int | None = None) -> TurnTransition:
    return TurnTransition(
        reason=TransitionReason.MAX_TOKENS_RECOVERY, step=step, attempt=attempt, limit=limit, max_tokens=max_tokens
    )
