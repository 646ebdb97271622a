"""Short words for what the brain tests say often."""

from typing import TypeVar

from aster.brain.protocol import Brain
from aster.brain.records import Frame, Row, ThreadKey
from aster.brain.unit import Idle, Owned
from aster.contracts.blocks import TextBlock
from aster.contracts.events import Event, Phase, TextDelta, ThreadLifecycle, UserMessage, decode_event

R = TypeVar("R", bound=Row)

KEY = ThreadKey("ada", "task-1")


def opening(text: str = "hello", message_id: str = "msg-1") -> list[Event]:
    return [
        ThreadLifecycle(phase=Phase.STARTED),
        UserMessage(message_id=message_id, content=(TextBlock(text=text),)),
    ]


def delta(text: str, block_index: int = 0, step: int = 1) -> TextDelta:
    return TextDelta(text=text, block_index=block_index, step=step)


def ending(phase: Phase = Phase.COMPLETED) -> ThreadLifecycle:
    return ThreadLifecycle(phase=phase, stop_reason="end_turn")


async def begin(
    brain: Brain, key: ThreadKey = KEY, turn_id: str = "turn-1", message_id: str = "msg-1"
) -> list[Event]:
    return await brain.append(key, turn_id, opening(message_id=message_id), guard=Idle())


async def end(brain: Brain, key: ThreadKey = KEY, turn_id: str = "turn-1") -> list[Event]:
    return await brain.append(key, turn_id, [ending()], guard=Owned(turn_id))


async def read_all(brain: Brain, key: ThreadKey = KEY) -> list[Frame]:
    return await brain.frames(key, 0, 1_000_000)


def text_in(frames: list[Frame]) -> str:
    events = [decode_event(item.json) for item in frames]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def made(kind: type[R], *values: object, **named: object) -> R:
    """A row by its fields in order."""
    return kind(**dict(zip(kind.__struct_fields__, values, strict=False)), **named)
