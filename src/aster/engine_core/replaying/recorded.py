"""A turn as it is on record, read in the terms of a replay: its model calls, what its tool calls came to, and what
reached it from outside between them.

Everything is placed by how many model calls had been finished, which is the same for a turn and for its replay,
whatever either had to ask twice.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.blocks import AssistantBlock, TextBlock, ToolUseBlock
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    PlanUpdate,
    Recovery,
    RiskSummary,
    ThreadLifecycle,
    TodoUpdate,
    ToolCallIssued,
    ToolError,
    ToolResult,
    TransitionReason,
    TurnTransition,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
    decode_event,
)
from aster.contracts.tools import Effect, ToolCall
from aster.contracts.turn import TurnState
from aster.engine_core.fold import apply
from aster.engine_core.ledger import fingerprint

NOTICE: Final = "notice"
"""How the ids begin of messages in which the engine tells of what happened elsewhere."""
_OUTSIDE: Final = (f"{NOTICE}-", "agents-", "msg-agents-", "msg-project-")
_HELD_UP: Final = (
    *(TransitionReason.STOP_HOOK_CONTINUATION, TransitionReason.GOAL_CONTINUATION),
    TransitionReason.HUMAN_GATE,
)
"""Why a turn goes on that was about to end, decided by somebody who is not asked again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tool call and what it came to; `seq` is where the model asked for it, `said` what the tool told the thread."""

    call: ToolCall
    seq: int
    issued: ToolCallIssued | None
    said: tuple[Event, ...]
    failed: ToolError | None
    result: ToolResult

    @property
    def effect(self) -> Effect | None:
        return None if self.issued is None else self.issued.effect


@dataclass(frozen=True, slots=True)
class Step:
    """A finished model call: the last record before it, what it said (each block with its seq), what it used."""

    floor: int
    blocks: tuple[tuple[int, AssistantBlock], ...]
    usage: Usage

    @property
    def calls(self) -> list[tuple[int, ToolUseBlock]]:
        return [(seq, block) for seq, block in self.blocks if isinstance(block, ToolUseBlock)]

    @property
    def text(self) -> str:
        return "".join(block.text for _, block in self.blocks if isinstance(block, TextBlock))


@dataclass(slots=True)
class Recorded:
    """`outside` is what reached the turn from elsewhere after so many model calls (what a person said meanwhile, what
    ended in the background, another plan), `held_up` what a hook said when it was about to end after so many, and
    `verdicts` how its answers were judged. `state` is what all of it folds to."""

    state: TurnState
    events: list[Event] = field(default_factory=list[Event])
    steps: list[Step] = field(default_factory=list[Step])
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    outside: dict[int, list[Event]] = field(default_factory=lambda: defaultdict[int, list[Event]](list))
    held_up: dict[int, list[Event]] = field(default_factory=lambda: defaultdict[int, list[Event]](list))
    verdicts: dict[int, Verification] = field(default_factory=dict[int, Verification])
    alike: dict[str, list[Outcome]] = field(default_factory=lambda: defaultdict[str, list[Outcome]](list))

    def outcome(self, call: ToolCall, before: int) -> Outcome | None:
        """What a call came to that asks for the same, the next one after `before` of them. A look that was taken less
        often then is answered as it was the last time."""
        alike = self.alike.get(fingerprint(call), [])
        if before < len(alike):
            return alike[before]
        return alike[-1] if alike and alike[-1].effect is Effect.PURE else None


async def load(brain: Brain, key: ThreadKey, turn_id: str) -> Recorded:
    """A turn as its thread has it."""
    return read(turn_id, (decode_event(data) for _, data in await brain.records(key, turn_id, 0)))


def read(turn_id: str, events: Iterable[Event]) -> Recorded:
    """A turn as these records tell it."""
    reader = _Reader(Recorded(TurnState(turn_id=turn_id)))
    for event in events:
        if not event.depth:
            reader.take(event)
    return reader.found


class _Reader:
    """Reads records in order; `_said` is what a tool has said on the thread before its result."""

    def __init__(self, found: Recorded) -> None:
        self.found = found
        self._blocks: list[tuple[int, AssistantBlock]] = []
        self._asked: dict[str, tuple[int, ToolCall]] = {}
        self._issued: dict[str, ToolCallIssued] = {}
        self._said: list[Event] = []
        self._failed: dict[str, ToolError] = {}
        self._before: Event | None = None

    def take(self, event: Event) -> None:
        found, state = self.found, self.found.state
        calls, busy = state.model_calls, bool(state.unresolved)
        found.events.append(event)
        apply(state, event)
        match event:
            case ContentBlockStop():
                self._blocks.append((event.seq, event.block))
            case Recovery():
                self._blocks = []
            case Usage() if state.model_calls > calls:
                self._called(event)
            case ToolCallIssued():
                self._issued[event.tool_call_id] = event
            case ToolError():
                self._failed[event.tool_call_id] = event
            case ToolResult():
                self._answered(event)
            case TodoUpdate() | Uncertainty() | RiskSummary() | PlanUpdate() if busy:
                self._said.append(event)
            case Verification():
                self._blocks = []
                found.verdicts[calls] = event
            case _:
                self._outside(event, calls)
        self._before = event

    def _called(self, usage: Usage) -> None:
        self._asked = {
            block.id: (seq, ToolCall(id=block.id, name=block.name, input=block.input))
            for seq, block in self._blocks
            if isinstance(block, ToolUseBlock)
        }
        self.found.steps.append(Step(self.found.state.step_floor, tuple(self._blocks), usage))
        self._blocks = []

    def _answered(self, result: ToolResult) -> None:
        call_id = result.tool_call_id
        said, self._said = tuple(self._said), []
        seq, call = self._asked[call_id]
        issued, failed = self._issued.pop(call_id, None), self._failed.pop(call_id, None)
        outcome = Outcome(call, seq, issued, said, failed, result)
        self.found.outcomes.append(outcome)
        self.found.alike[fingerprint(call)].append(outcome)

    def _outside(self, event: Event, calls: int) -> None:
        """What the loop would not do again by itself."""
        if isinstance(event, TurnTransition) and event.reason in _HELD_UP:
            self.found.held_up[calls].append(event)
        if not isinstance(event, UserMessage):
            return
        before = self._before
        if isinstance(before, TurnTransition) and before.reason in _HELD_UP:
            self.found.held_up[calls].append(event)
        elif isinstance(before, PlanUpdate) and event.origin == "engine":
            self.found.outside[calls] += (before, event)
        elif event.origin == "steer" or event.message_id.startswith(_OUTSIDE):
            self.found.outside[calls].append(event)


def ended(recorded: Recorded) -> ThreadLifecycle | None:
    """The record that closes the turn, if it is closed."""
    last = recorded.events[-1] if recorded.events else None
    return last if isinstance(last, ThreadLifecycle) and last.phase.final else None
