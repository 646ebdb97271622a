"""What happened, as learning looks at it: who said what at which place of the thread, and what came from outside.

The two are kept apart from the first moment on. `heard` are the words a person typed, and nothing else can become
something about that person; `outside` is everything that tools, files and pages said, which is only ever held against
what is to be learned.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from aster.brain.learning import Entry
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.signals import Signal
from aster.contracts.blocks import DocumentBlock, TextBlock
from aster.contracts.events import (
    ContentBlockStop,
    ErrorEvent,
    Event,
    ToolCallIssued,
    ToolError,
    ToolResult,
    UserMessage,
    decode_event,
)
from aster.memory.grounding import own_words
from aster.memory.worth import passages

PERSON: Final = frozenset({"user", "queue", "steer", "interrupt"})
"""The origins of what a person typed."""
MOST_SIGNALS: Final = 500
SAID_CHARS: Final = 4000
ANSWER_CHARS: Final = 800
PROBLEM_CHARS: Final = 200


class Heard(NamedTuple):
    """Words of a person: where they stand, and when they were said (in milliseconds)."""

    text: str
    task_id: str
    first_seq: int
    last_seq: int
    at: int


class Call(NamedTuple):
    """A call of a tool, and what was wrong with it, if it failed. What it was called with is left out: the agent may
    have it from anywhere."""

    tool: str
    problem: str | None


class Happening(NamedTuple):
    """An entry with all that belongs to it."""

    entry: Entry
    heard: tuple[Heard, ...] = ()
    answer: str = ""
    calls: tuple[Call, ...] = ()
    outside: str = ""
    signal: Signal | None = None
    error: str = ""

    @property
    def telling(self) -> bool:
        """Whether anything could be learned from it: a greeting or a bare question teaches nothing."""
        if self.signal is not None and (self.signal.text or self.signal.correction):
            return True
        failed = self.entry.kind == "failure" or (self.signal is not None and (self.signal.rating or 0) < 0)
        return bool(self.heard) and (failed or any(passages(one.text) for one in self.heard))

    @property
    def words(self) -> str:
        """All that a lesson can be told by: the person's words, and the names of the tools that were called."""
        return "\n".join((*(one.text for one in self.heard), *(call.tool.replace("_", " ") for call in self.calls)))


async def load(brain: Brain, entry: Entry) -> Happening:
    """What an entry tells of; of a task that was deleted since, nothing."""
    signal = await _signal(brain, entry) if entry.signal_id else None
    if not entry.turn_id:
        return Happening(entry, _said_of(signal, None), signal=signal)
    key = ThreadKey(entry.user_id, entry.task_id)
    records = await brain.records(key, entry.turn_id, 0)
    events = [event for event in (decode_event(data) for _, data in records) if not event.depth]
    calls, outside = _calls(events), "\n".join(_outside(events))
    heard = tuple(_heard(events, entry.task_id))
    errors = [event.message for event in events if isinstance(event, ErrorEvent)]
    return Happening(
        entry,
        (*heard, *_said_of(signal, heard[-1] if heard else None)),
        _answer(events)[-ANSWER_CHARS:],
        calls,
        outside,
        signal,
        errors[-1] if errors else "",
    )


async def _signal(brain: Brain, entry: Entry) -> Signal | None:
    found = await brain.signals(entry.user_id, limit=MOST_SIGNALS, task_id=entry.task_id or None)
    return next((one for one in found if one.signal_id == entry.signal_id), None)


def _said_of(signal: Signal | None, place: Heard | None) -> tuple[Heard, ...]:
    """What a person said of a turn or a memory are words of theirs too; their place is what they are about."""
    if signal is None:
        return ()
    task_id, first, last = (place.task_id, place.first_seq, place.last_seq) if place else (signal.task_id, 0, 0)
    texts = (own_words(text).strip() for text in (signal.text, signal.correction))
    return tuple(Heard(text, task_id, first, last, signal.updated_at) for text in texts if text)


def _heard(events: Sequence[Event], task_id: str) -> Iterable[Heard]:
    for event in events:
        if isinstance(event, UserMessage) and event.origin in PERSON:
            typed = next((block.text for block in event.content if isinstance(block, TextBlock)), "")
            text = own_words(typed).strip()
            if text:
                yield Heard(text, task_id, event.seq, event.seq, _ms(event.timestamp))


def _answer(events: Sequence[Event]) -> str:
    ends = (event.block for event in events if isinstance(event, ContentBlockStop))
    return "\n".join(block.text for block in ends if isinstance(block, TextBlock))


def _calls(events: Sequence[Event]) -> tuple[Call, ...]:
    failed = {event.tool_call_id: event.message for event in events if isinstance(event, ToolError)}
    failed |= {
        event.tool_call_id: event.output
        for event in events
        if isinstance(event, ToolResult) and event.error is not None
    }
    return tuple(
        Call(event.tool, failed.get(event.tool_call_id)) for event in events if isinstance(event, ToolCallIssued)
    )


def _outside(events: Sequence[Event]) -> Iterable[str]:
    """Whatever did not come from the person: results and documents."""
    for event in events:
        match event:
            case ToolResult(trusted=False):
                yield event.output
                yield from (block.text for block in event.content if isinstance(block, TextBlock))
            case ToolError():
                yield event.message
            case UserMessage():
                for block in event.content:
                    if isinstance(block, DocumentBlock) and block.text:
                        yield block.text
            case _:
                pass


def _ms(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp).timestamp() * 1000)


def shown(happenings: Sequence[Happening]) -> tuple[list[dict[str, Any]], list[tuple[Heard, Happening]]]:
    """The conversations as a model is given them, and the numbered messages in them. What tools returned is left out:
    nothing is learned from it."""
    said: list[tuple[Heard, Happening]] = []
    conversations: list[dict[str, Any]] = []
    for one in happenings:
        messages: list[dict[str, Any]] = []
        for heard in one.heard:
            said.append((heard, one))
            messages.append({"message": len(said), "person": heard.text[:SAID_CHARS]})
        story: dict[str, Any] = {"messages": messages, "assistant": one.answer}
        if one.calls:
            story["calls"] = [
                {"tool": call.tool, "failed": None if call.problem is None else call.problem[:PROBLEM_CHARS]}
                for call in one.calls
            ]
        if one.error:
            story["ended_with"] = one.error[:PROBLEM_CHARS]
        if one.signal is not None:
            story["feedback"] = {"rating": one.signal.rating, "text": one.signal.text}
            if one.signal.correction:
                story["feedback"]["right_would_have_been"] = one.signal.correction[:SAID_CHARS]
        conversations.append(story)
    return conversations, said
