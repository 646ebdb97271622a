"""Playback: a model server that hands out the recorded answers of a turn again, one for each model call.

It speaks the wire format like any scripted server, so whoever is asked to play a recording goes the whole way: request,
stream, parse. When the answers are used up, the next call is refused and never answered with an invented one.
"""

from collections.abc import Sequence
from typing import get_args

from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.events import ContentBlockStop, Event, Recovery, Usage, Verification, decode_event
from aster.contracts.model import encode
from aster.contracts.replay import Recording
from aster.testing.script import Part, Reply, StopReason, Text, ToolCall
from aster.testing.script import Usage as Used
from aster.testing.server import ModelServer

_STOPS = frozenset(get_args(StopReason))


def replies(recording: Recording) -> list[Reply]:
    """What the model said in the recorded turn, one reply for each call that was finished."""
    found: list[Reply] = []
    parts: list[Part] = []
    for event in (decode_event(encode(data)) for data in recording.events):
        match event:
            case ContentBlockStop():
                parts += _part(event)
            case Recovery() | Verification():
                parts = []
            case Usage() if _finished(event):
                found.append(_reply(parts, event))
                parts = []
            case _:
                pass
    return found


def playback(recording: Recording) -> ModelServer:
    """A server that plays a recording while it is entered."""
    server = ModelServer(models=(recording.model or "recorded",))
    server.enqueue(*replies(recording))
    return server


def _finished(event: Event) -> bool:
    return isinstance(event, Usage) and event.purpose == "step" and not event.estimated


def _part(event: ContentBlockStop) -> Sequence[Part]:
    """What is said again of a block; thoughts are not."""
    match event.block:
        case TextBlock(text=text):
            return (Text(text),)
        case ToolUseBlock() as call:
            name = call.name.replace(".", "__")
            return (ToolCall(name, call.input, id=call.id, raw_arguments=call.invalid),)
        case _:
            return ()


def _reply(parts: Sequence[Part], event: Usage) -> Reply:
    stop: StopReason | None = event.stop_reason if event.stop_reason in _STOPS else None  # type: ignore[assignment]
    cached = event.cache_hit_tokens + event.cache_write_tokens
    used = Used(event.input_tokens - cached, event.output_tokens, event.cache_hit_tokens, event.cache_write_tokens)
    return Reply(tuple(parts), stop_reason=stop, usage=used, chunk="all", rate=0)
