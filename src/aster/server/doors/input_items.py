"""What a response answers, as items: the messages that came with its request, or the results of calls.

They are read from the records of the turn, like the response itself. What was said before is not among them: that is
what the response before answered.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from aster.contracts.blocks import AudioBlock, Base64Source, ImageBlock, MediaBlock, Source, TextBlock
from aster.contracts.events import Event, HitlRequest, HitlResolved, ThreadLifecycle, UserMessage

Json: TypeAlias = dict[str, Any]


def given_items(events: Sequence[Event], segment: int) -> tuple[Json, ...]:
    """The items that came with the request that began a segment, or while it ran."""
    found: list[Json] = []
    calls: dict[str, str | None] = {}
    at = 0
    for event in events:
        match event:
            case ThreadLifecycle():
                at = event.segment
            case HitlRequest(kind="client_tool"):
                calls[event.request_id] = event.tool_call_id
            case HitlResolved() if event.request_id in calls and at == segment - 1:
                found.append(_output(event, calls[event.request_id]))
            case UserMessage() if at == segment and event.origin != "engine":
                found.append(_message(event))
            case _:
                pass
    return tuple(found)


def _message(event: UserMessage) -> Json:
    parts = [_part(block) for block in event.content]
    return {"type": "message", "id": event.message_id, "status": "completed", "role": "user", "content": parts}


def _output(event: HitlResolved, call_id: str | None) -> Json:
    parts = [{"type": "input_text", "text": event.answer}, *map(_part, event.content)]
    said = {"call_id": call_id, "output": parts if event.content else event.answer}
    return {"type": "function_call_output", "id": event.request_id, "status": "completed", **said}


def _part(block: MediaBlock) -> Json:
    if isinstance(block, TextBlock):
        return {"type": "input_text", "text": block.text}
    if isinstance(block, ImageBlock):
        return {"type": "input_image", "image_url": _address(block.source), "detail": "auto"}
    if isinstance(block, AudioBlock):
        return {"type": "input_audio", "audio_url": _address(block.source)}
    return {"type": "input_file", "file_url": _address(block.source)}


def _address(source: Source) -> str:
    return f"data:{source.media_type};base64,{source.data}" if isinstance(source, Base64Source) else source.url
