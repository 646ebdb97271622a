"""Tool names on the wire: most providers take letters, digits, `_` and `-` alone; a tool may be called `git.log`.

A dot goes out as two underscores and comes back as the dot it was; nothing else of a request or an answer is
touched, and without such names nothing at all.
"""

from collections.abc import Mapping

import msgspec

from aster.contracts.blocks import ToolUseBlock
from aster.contracts.llm import BlockFinished, BlockStarted, ModelRequest, StreamEvent
from aster.contracts.messages import Message
from aster.herald.protocols.base import Decoder, SoFar

_replace = msgspec.structs.replace


def wire_name(name: str) -> str:
    return name.replace(".", "__")


def dotless(request: ModelRequest) -> tuple[ModelRequest, dict[str, str]]:
    """The request with names any provider takes, and what the names of its tools were."""
    names = {wire_name(tool.name): tool.name for tool in request.tools if "." in tool.name}
    if names:
        tools = tuple(_replace(tool, name=wire_name(tool.name)) for tool in request.tools)
        choice = request.tool_choice
        if choice is not None and choice.name is not None:
            choice = _replace(choice, name=wire_name(choice.name))
        request = _replace(request, tools=tools, tool_choice=choice)
    if any(map(_dotted, request.messages)):
        messages = tuple(_renamed(message) if _dotted(message) else message for message in request.messages)
        request = _replace(request, messages=messages)
    return request, names


class DottedDecoder:
    """An answer's events with the names of tools as they are."""

    def __init__(self, decoder: Decoder, names: Mapping[str, str]) -> None:
        self._decoder = decoder
        self._names = names
        self.finished = decoder.finished

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        return self._restored(self._decoder.feed(event, data))

    def end(self) -> list[StreamEvent]:
        return self._restored(self._decoder.end())

    def _restored(self, events: list[StreamEvent]) -> list[StreamEvent]:
        self.finished = self._decoder.finished
        return [self._named(event) for event in events]

    def so_far(self) -> SoFar:
        return self._decoder.so_far()

    def _named(self, event: StreamEvent) -> StreamEvent:
        if isinstance(event, BlockStarted) and event.tool_name is not None:
            return _replace(event, tool_name=self._names.get(event.tool_name, event.tool_name))
        if isinstance(event, BlockFinished) and isinstance(event.block, ToolUseBlock):
            name = self._names.get(event.block.name)
            return event if name is None else _replace(event, block=_replace(event.block, name=name))
        return event


def _dotted(message: Message) -> bool:
    return message.role == "assistant" and any(
        isinstance(block, ToolUseBlock) and "." in block.name for block in message.content
    )


def _renamed(message: Message) -> Message:
    content = tuple(
        _replace(block, name=wire_name(block.name)) if isinstance(block, ToolUseBlock) else block
        for block in message.content
    )
    return _replace(message, content=content)
