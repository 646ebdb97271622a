"""A proposed rule, tried on what has really been called: what it would have changed, and what people had said then.

Only the user's own threads are looked at, the newest first and not without end. Nothing is run; a call is judged as
the workspace is now.
"""

import asyncio
from typing import Any, Literal, TypeAlias

import msgspec

from aster.brain.grants import PastCall
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.events import HitlResolved, PermissionPrompt, ToolCallIssued, decode_event
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior
from aster.contracts.tools import ToolCall
from aster.engine_core.permissions import Permissions
from aster.sandbox.policy import Policy
from aster.sandbox.rules import Rule, matches, subject

THREADS = 200
EVENTS = 4000
CALLS = 1000
EXAMPLES = 10
_SHOWN_CHARS = 500

Then: TypeAlias = Literal["ran", "approved", "denied", "unanswered"]


class Recorded(Contract):
    """A call as it was made once, and what became of it."""

    task_id: str
    seq: int
    tool: str
    input: dict[str, Any]
    then: Then


class Example(Contract):
    """A recorded call that the rule is about: what happens with it now, and what would with the rule."""

    call: Recorded
    now: Behavior
    proposed: Behavior


class Backtest(Contract):
    """`calls` were looked at, `matched` fit the rule; the rest counts those. `changed` are decided otherwise with
    the rule than without."""

    calls: int
    matched: int
    changed: int
    would: dict[Behavior, int]
    then: dict[Then, int]
    would_allow_denied: int
    would_deny_approved: int
    examples: tuple[Example, ...]
    complete: bool


async def backtest(permissions: Permissions, brain: Brain, user_id: str, rule: Rule) -> Backtest:
    """The rule against the newest recorded calls of a user."""
    events = await brain.past_calls(user_id, THREADS, EVENTS)
    calls = recorded(events)
    rules = await permissions.rules_for(ThreadKey(user_id, ""))
    today, proposed = Policy(rules=rules), Policy(rules=(*rules, rule))

    def tried() -> list[Example]:
        found: list[Example] = []
        for call in calls[:CALLS]:
            if matches(rule, subject(call.tool, call.input, None)):
                key, asked = ThreadKey(user_id, call.task_id), ToolCall(id="", name=call.tool, input=call.input)
                now = permissions.weigh(key, asked, today).decision
                then = permissions.weigh(key, asked, proposed).decision
                found.append(Example(call=call, now=now.behavior, proposed=then.behavior))
        return found

    matched = await asyncio.to_thread(tried)
    return _summed(matched, min(len(calls), CALLS), complete=len(events) < EVENTS and len(calls) <= CALLS)


def _summed(matched: list[Example], calls: int, *, complete: bool) -> Backtest:
    would: dict[Behavior, int] = {"allow": 0, "ask": 0, "deny": 0}
    then: dict[Then, int] = {"ran": 0, "approved": 0, "denied": 0, "unanswered": 0}
    for example in matched:
        would[example.proposed] += 1
        then[example.call.then] += 1
    telling = sorted(matched, key=lambda example: (example.now == example.proposed, example.call.then == "ran"))
    return Backtest(
        calls=calls,
        matched=len(matched),
        changed=sum(example.now != example.proposed for example in matched),
        would=would,
        then=then,
        would_allow_denied=sum(e.proposed == "allow" and e.call.then == "denied" for e in matched),
        would_deny_approved=sum(e.proposed == "deny" and e.call.then in ("approved", "ran") for e in matched),
        examples=tuple(map(_short, telling[:EXAMPLES])),
        complete=complete,
    )


def recorded(events: list[PastCall]) -> list[Recorded]:
    """The calls that these events tell of, newest thread first, each once."""
    calls: dict[tuple[str, str | None, str], Recorded] = {}
    asked: dict[str, tuple[str, str | None, str]] = {}
    for past in events:
        event = decode_event(past.data)
        if event.depth:
            continue
        match event:
            case PermissionPrompt():
                key = (past.task_id, event.turn_id, event.tool_call_id)
                asked[event.request_id] = key
                calls[key] = _call(past, event.tool, event.input, "unanswered")
            case HitlResolved() if event.request_id in asked:
                key = asked[event.request_id]
                calls[key] = msgspec.structs.replace(calls[key], then="approved" if event.approved else "denied")
            case ToolCallIssued():
                key = (past.task_id, event.turn_id, event.tool_call_id)
                calls.setdefault(key, _call(past, event.tool, event.input, "ran"))
            case _:
                pass
    return list(calls.values())


def _call(past: PastCall, tool: str, given: dict[str, Any], then: Then) -> Recorded:
    return Recorded(task_id=past.task_id, seq=past.seq, tool=tool, input=given, then=then)


def _short(example: Example) -> Example:
    """An example that fits on a page."""
    shown = {
        name: value if not isinstance(value, str) or len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + "…"
        for name, value in example.call.input.items()
    }
    return msgspec.structs.replace(example, call=msgspec.structs.replace(example.call, input=shown))
