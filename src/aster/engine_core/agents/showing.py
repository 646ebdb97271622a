"""What a sub-agent does and asks, shown where the person is: on the thread of the task that it all began in.

The records themselves stay on the sub-agent's own thread. What is shown of them is short, carries `depth` and the
sub-agent's `turn_id`, and is no part of any state, so that nothing is ever decided by it; what a person is asked is
part of no turn at all, because its answer goes to the sub-agent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.unit import Present
from aster.contracts.agents import Parent
from aster.contracts.blocks import TextBlock
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    HitlRequest,
    HitlResolved,
    PermissionPrompt,
    SubagentLifecycle,
    TodoUpdate,
    ToolCallIssued,
    ToolError,
    ToolProgress,
    ToolResult,
    Usage,
    WorkflowUpdate,
    WorkUpdate,
)
from aster.contracts.model import decode
from aster.engine_core.orders import Order

SHOWN_CHARS: Final = 2_000
"""How much of a text is shown; the sub-agent's own thread has the rest."""
PROGRESS_SECONDS: Final = 1.0

Question: TypeAlias = HitlRequest | PermissionPrompt | HitlResolved
_replace = msgspec.structs.replace


@dataclass(slots=True)
class Pace:
    """What tools of a sub-agent say while they run is shown once a second, the end of it."""

    _due: dict[str, float] = field(default_factory=dict[str, float])
    _held: dict[str, str] = field(default_factory=dict[str, str])

    def let(self, event: ToolProgress, now: float) -> ToolProgress | None:
        """What is to be shown now, if anything is."""
        call_id = event.tool_call_id
        text = (self._held.pop(call_id, "") + event.text)[-SHOWN_CHARS:]
        if now < self._due.get(call_id, 0.0):
            self._held[call_id] = text
            return None
        self._due[call_id] = now + PROGRESS_SECONDS
        return _replace(event, text=text)

    def over(self, events: Iterable[Event]) -> None:
        """Calls with a result say nothing more."""
        for event in events:
            if isinstance(event, ToolResult):
                self._due.pop(event.tool_call_id, None)
                self._held.pop(event.tool_call_id, None)


def show(brain: Brain, user_id: str, turn_id: str, agent: str, parent: Parent, events: Iterable[Event]) -> None:
    """Show what is worth showing among these events of a sub-agent's turn."""
    shown = [above for event in events if (above := _above(event, turn_id, agent, parent)) is not None]
    if shown:
        home = ThreadKey(user_id, parent.home_task_id)
        brain.append(home, None, shown, guard=Present()).add_done_callback(lambda done: done.exception())


async def answered(brain: Brain, request: HitlRecord, resolved: HitlResolved) -> None:
    """Show that a question has been answered, if it was a sub-agent's or that of a team's member."""
    await passed_on(brain, request.user_id, request.turn_id, resolved)


async def passed_on(brain: Brain, user_id: str, turn_id: str, event: Event) -> None:
    """Show what somebody else wrote on the thread of a turn, if that is a sub-agent's."""
    found = await brain.subagent(user_id, turn_id)
    if found is None:
        await _of_member(brain, user_id, turn_id, event)
        return
    order = decode(found.body, Order)
    if order.parent is not None:
        show(brain, user_id, turn_id, found.agent, order.parent, [event])


async def _of_member(brain: Brain, user_id: str, turn_id: str, event: Event) -> None:
    """The same if it is that of a team's member."""
    turn = await brain.turn(user_id, turn_id)
    seat = None if turn is None else await brain.teams.seat(ThreadKey(user_id, turn.task_id))
    if seat is not None and not seat.leads:
        lead = seat.team.lead_task_id
        parent = Parent(
            task_id=lead,
            turn_id="",
            tool_call_id="",
            home_task_id=lead,
            root_turn_id=turn_id,
            depth=1,
            agents=(),
            background=True,
        )
        show(brain, user_id, turn_id, seat.name, parent, [event])


def _above(event: Event, turn_id: str, agent: str, parent: Parent) -> Event | None:
    """The event as it is shown; None if it is not."""
    if isinstance(event, Question):
        placed = _replace(event, turn_id=None, parent_turn_id=parent.turn_id, depth=parent.depth)
        if isinstance(placed, HitlRequest):
            return _replace(placed, question=f"The sub-agent {agent} asks: {placed.question}")
        return placed
    short = _short(event)
    if short is None:
        return None
    return _replace(short, turn_id=turn_id, parent_turn_id=parent.turn_id, depth=parent.depth)


def _short(event: Event) -> Event | None:
    match event:
        case ContentBlockStop(block=TextBlock(text=text)) if text.strip():
            return _replace(event, block=TextBlock(text=_cut(text)))
        case ToolCallIssued():
            return _replace(event, input=_cut_all(event.input), as_input=None)
        case ToolResult():
            return _replace(event, output=_cut(event.output), content=(), data=None)
        case SubagentLifecycle():
            return _replace(event, result=None if event.result is None else _cut(event.result))
        case ToolProgress() | ToolError() | TodoUpdate() | WorkUpdate() | WorkflowUpdate() | Usage():
            return event
        case _:
            return None


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} […]"


def _cut_all(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, list):
        return [_cut_all(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _cut_all(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
