"""Responses that are asked for later: read from the records of their turn, which are all there is of them."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, HitlResolved, Phase, ThreadLifecycle, decode_event
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions, TurnRequest
from aster.engine_core.engine import Engine
from aster.engine_core.wishes import adopted
from aster.server.doors.input_items import given_items
from aster.server.doors.responses_answer import Json, ResponseId, ResponsesAnswer
from aster.server.doors.turn import Following, Piece, Reader, pieces


@dataclass(frozen=True, slots=True)
class Kept:
    """A response, the task it is on, where on its thread it begins, and the items that it answers."""

    task_id: str
    user_id: str
    answer: ResponsesAnswer
    first_seq: int
    given: tuple[Json, ...]


async def found(engine: Engine, user_id: str, response_id: str) -> Kept:
    """A response of this user."""
    name = ResponseId.read(response_id)
    turn = None if name is None else await engine.brain.turn(user_id, name.turn_id)
    deleted = await engine.brain.door_places(user_id, [f"response {response_id}"])
    if name is None or turn is None or deleted or turn.segment < name.segment:
        raise missing(response_id)
    key = ThreadKey(user_id, turn.task_id)
    events = [decode_event(data) for _, data in await engine.brain.records(key, turn.turn_id, 0)]
    own = _segment(events, name.segment)
    if not own:
        raise missing(response_id)
    asked = _asked(events, name.segment)
    frame = frame_of(asked.instructions, asked.tools, asked.options, asked.echo)
    if name.segment:
        frame["previous_response_id"] = str(name._replace(segment=name.segment - 1))
    answer = ResponsesAnswer(name, _seconds(own[0]), frame, whole=True)
    reader = Reader()
    for event in own:
        answer.take(reader.read(event))
    return Kept(turn.task_id, user_id, answer, own[0].seq, given_items(events, name.segment))


def live_from(engine: Engine, kept: Kept) -> AsyncGenerator[list[Piece], None]:
    """The pieces of a response from its beginning, and on as they come."""
    subscription = engine.brain.subscribe(ThreadKey(kept.user_id, kept.task_id), kept.first_seq - 1)
    return pieces(engine, Following(kept.task_id, kept.answer.id.turn_id, subscription))


def missing(response_id: str, field: str = "response_id") -> EngineError:
    return EngineError(
        ErrorCode.NOT_FOUND,
        f"There is no response {response_id[:128]!r} here.",
        {"fields": [{"field": field, "problem": "is not known"}], "code": "response_not_found"},
    )


def frame_of(
    instructions: str, tools: tuple[ToolDef, ...], options: TurnOptions, echo: dict[str, Any]
) -> dict[str, Any]:
    """What a response says of its request."""
    choice = options.tool_choice
    named = None if choice is None or choice.name is None else {"type": "function", "name": choice.name}
    return {
        "model": echo.get("model", ""),
        "previous_response_id": echo.get("previous_response_id"),
        "instructions": echo.get("instructions"),
        "tools": [_tool(tool) for tool in tools],
        "tool_choice": named or (choice.mode if choice is not None else "auto"),
        "parallel_tool_calls": True,
        "text": {"format": echo.get("format", {"type": "text"})},
        "temperature": 1.0 if options.temperature is None else options.temperature,
        "top_p": 1.0 if options.top_p is None else options.top_p,
        "presence_penalty": options.presence_penalty or 0.0,
        "frequency_penalty": 0.0,
        "top_logprobs": 0,
        "reasoning": echo.get("reasoning", {"effort": None, "summary": None}),
        "truncation": echo.get("truncation", "disabled"),
        "max_output_tokens": options.max_tokens,
        "max_tool_calls": echo.get("max_tool_calls"),
        "store": True,
        "background": echo.get("background", False),
        "service_tier": "default",
        "metadata": echo.get("metadata", {}),
        "user": echo.get("user"),
        "safety_identifier": echo.get("safety_identifier"),
        "prompt_cache_key": echo.get("prompt_cache_key"),
    }


def _tool(tool: ToolDef) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or None,
        "parameters": tool.input_schema,
        "strict": False,
    }


def _asked(events: Sequence[Event], segment: int) -> TurnRequest:
    """What the client had asked for when a segment began."""
    asked = TurnRequest()
    for event in events:
        match event:
            case ThreadLifecycle(segment=at) if at > segment:
                break
            case ThreadLifecycle(phase=Phase.STARTED):
                asked = msgspec.convert(event.request or {}, TurnRequest)
            case ThreadLifecycle(phase=Phase.SUSPENDED, segment=at) if at == segment:
                break
            case HitlResolved(request=changed) if changed is not None:
                asked = adopted(asked, changed)
            case _:
                pass
    return asked


def _segment(events: Sequence[Event], wanted: int) -> list[Event]:
    """The records of one segment; a suspension belongs to the segment it ends."""
    own: list[Event] = []
    at = 0
    for event in events:
        if isinstance(event, ThreadLifecycle):
            at = event.segment
        if at == wanted:
            own.append(event)
    return own


def _seconds(event: Event) -> int:
    return int(datetime.fromisoformat(event.timestamp).timestamp())
