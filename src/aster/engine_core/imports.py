"""History that a client brings along: put onto the thread as the records a turn would have left.

So everything that reads threads (history, forks, transcripts, lists) finds it as it finds all else. Each call keeps
its one result: a result without its call is dropped, a call without a result gets one that says so.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aster.brain.records import ConversationRow
from aster.contracts.blocks import AssistantBlock, MediaBlock, TextBlock, ToolResultBlock, ToolUseBlock, text_of
from aster.contracts.events import ContentBlockStop, Event, Phase, ThreadLifecycle, ToolResult, Usage, UserMessage
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.engine_core.fold import apply
from aster.engine_core.history import Place
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

NO_RESULT = "(no result of this call came with the history)"


class Imported(NamedTuple):
    """An ended turn that holds brought messages: its records, its row, and its messages as they stand now."""

    turn_id: str
    events: list[Event]
    row: ConversationRow
    messages: list[Message]


def imported(brought: Sequence[Message], place: Place, turn_id: str) -> Imported:
    """The turn that stands for brought messages after a place."""
    started = ThreadLifecycle(
        phase=Phase.STARTED, follows_turn_id=place.turn_id, follows_messages=place.messages, turn_id=turn_id
    )
    ended = ThreadLifecycle(phase=Phase.COMPLETED, stop_reason="imported", turn_id=turn_id)
    events: list[Event] = [started, *records(brought, turn_id), ended]
    state = TurnState(turn_id=turn_id)
    for event in events:
        apply(state, event)
    row = ConversationRow(
        turn_id=turn_id,
        messages=encode(state.messages),
        message_count=len(state.messages),
        follows_turn_id=place.turn_id,
        follows_messages=place.messages,
        created_at=now_ms(),
    )
    return Imported(turn_id, events, row, state.messages)


def records(brought: Sequence[Message], turn_id: str | None = None) -> Iterator[Event]:
    """The records that leave these messages on a thread, in whatever turn they are written."""
    step = 0
    open_calls: dict[str, str] = {}
    for message in brought:
        if message.role == "assistant":
            yield from _closed(open_calls, step, turn_id)
            step += 1
            open_calls = {block.id: block.name for block in message.content if isinstance(block, ToolUseBlock)}
            yield from _answer(message, step, turn_id)
            continue
        for block in message.content:
            if isinstance(block, ToolResultBlock) and block.tool_use_id in open_calls:
                yield _result(block, open_calls.pop(block.tool_use_id), step, turn_id)
        said = tuple(block for block in message.content if isinstance(block, MediaBlock))
        if said:
            yield from _closed(open_calls, step, turn_id)
            open_calls = {}
            yield UserMessage(message_id=new_id("msg"), content=said, origin="import", turn_id=turn_id)
    yield from _closed(open_calls, step, turn_id)


def _answer(message: Message, step: int, turn_id: str | None) -> Iterator[Event]:
    blocks: list[AssistantBlock] = [b for b in message.content if isinstance(b, TextBlock | ToolUseBlock)]
    for index, block in enumerate(blocks):
        kind = "tool_use" if isinstance(block, ToolUseBlock) else "text"
        yield ContentBlockStop(block_index=index, block_type=kind, step=step, block=block, turn_id=turn_id)
    calls = any(isinstance(block, ToolUseBlock) for block in blocks)
    yield Usage(
        step=step,
        message_id=new_id("msg"),
        model="",
        stop_reason="tool_use" if calls else "end_turn",
        input_tokens=0,
        output_tokens=0,
        purpose="import",
        turn_id=turn_id,
    )


def _result(block: ToolResultBlock, tool: str, step: int, turn_id: str | None) -> ToolResult:
    plain = all(isinstance(item, TextBlock) for item in block.content)
    return ToolResult(
        tool=tool,
        tool_call_id=block.tool_use_id,
        step=step,
        output=text_of(block.content),
        content=() if plain else block.content,
        turn_id=turn_id,
    )


def _closed(open_calls: dict[str, str], step: int, turn_id: str | None) -> Iterator[ToolResult]:
    """A result for every call that has none."""
    for call_id, tool in open_calls.items():
        yield ToolResult(
            tool=tool,
            tool_call_id=call_id,
            step=step,
            output=NO_RESULT,
            error="cancelled",
            trusted=True,
            turn_id=turn_id,
        )
