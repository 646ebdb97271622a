"""How a small local model is asked: Chat Completions, its prompt made short and its reply held to a schema.

The model never sees `tools`; it sees a line for each and can only reply with an answer or a valid call, which come
out as the same events as from any provider. Until the model is ready, notices stand in the answer's place.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from aster.contracts.blocks import MediaKind, TextBlock, ToolUseBlock
from aster.contracts.llm import (
    BlockFinished,
    BlockStarted,
    CallFinished,
    CallWaiting,
    ModelRequest,
    StopReason,
    StreamEvent,
    TextPart,
)
from aster.contracts.model import decode
from aster.contracts.tools import ToolDef
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.local.constrain import ReplyReader, reply_schema
from aster.herald.local.notices import UNAVAILABLE, WAITING, Unavailable
from aster.herald.local.prompt import affordable, instructions, plain
from aster.herald.protocols.base import Decoder, Encoded, SoFar
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.infra.ids import new_id

MOST_TOKENS = 2_048
_TEMPERATURE = 0.2


class LocalChatProtocol:
    """`POST /chat/completions` of llama.cpp's server."""

    name: ClassVar[ProtocolName] = "local_chat"
    headers: ClassVar[Mapping[str, str]] = OpenAIChatProtocol.headers
    probe_path: ClassVar[str] = OpenAIChatProtocol.probe_path
    takes: ClassVar[frozenset[MediaKind]] = frozenset()
    _chat = OpenAIChatProtocol()

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded:
        return self._chat.encode(short(request), endpoint)

    def decoder(self, request: ModelRequest) -> Decoder:
        return LocalDecoder(self._chat.decoder(request), held=_held(request))

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        return self._chat.failure(status, headers, body)


def short(request: ModelRequest) -> ModelRequest:
    """The request as a small model can bear it."""
    held, tools = _held(request), affordable(_chosen(request))
    return msgspec.structs.replace(
        request,
        system=instructions(request.system, tools) if held else request.system,
        messages=plain(request.messages, formed=held),
        tools=(),
        output_schema=reply_schema(tools) if held else request.output_schema,
        max_tokens=min(request.max_tokens, MOST_TOKENS),
        temperature=_TEMPERATURE if request.temperature is None else request.temperature,
        thinking_budget=None,
    )


def _held(request: ModelRequest) -> bool:
    """Whether the reply is an answer or a call; without tools, or with a schema of the caller's, it is itself."""
    return bool(_chosen(request)) and request.output_schema is None


def _chosen(request: ModelRequest) -> tuple[ToolDef, ...]:
    """The tools that may be called; that one must be is left to the model."""
    choice = request.tool_choice
    if choice is None or choice.mode == "required":
        return request.tools
    return tuple(tool for tool in request.tools if choice.mode == "named" and tool.name == choice.name)


class LocalDecoder:
    """Reads what Chat Completions brings as text, and makes answers and calls of it."""

    def __init__(self, chat: Decoder, *, held: bool) -> None:
        self.finished = False
        self._chat = chat
        self._held = held
        self._reader = ReplyReader()
        self._open: str | None = None
        self._text: list[str] = []
        self._called = False

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        if event == WAITING:
            return [decode(data, CallWaiting)]
        if event == UNAVAILABLE:
            why = decode(data, Unavailable)
            raise HeraldError(FailureKind.UNAVAILABLE, why.text, retry_after=why.retry_after)
        return self._read(self._chat.feed(event, data))

    def end(self) -> list[StreamEvent]:
        return self._read(self._chat.end())

    def so_far(self) -> SoFar:
        return self._chat.so_far()

    def _read(self, events: list[StreamEvent]) -> list[StreamEvent]:
        self.finished = self._chat.finished
        if not self._held:
            return events
        out: list[StreamEvent] = []
        for event in events:
            match event:
                case BlockStarted(block_type="text"):
                    self._reader, self._open, self._text = ReplyReader(), None, []
                case TextPart(index=index, text=text):
                    self._more(index, self._reader.feed(text), out)
                case BlockFinished(index=index, block=TextBlock()):
                    self._more(index, self._reader.end(), out)
                    self._close(index, out)
                case CallFinished(stop_reason=StopReason.END_TURN) if self._called:
                    out.append(msgspec.structs.replace(event, stop_reason=StopReason.TOOL_USE))
                case _:
                    out.append(event)
        return out

    def _more(self, index: int, text: str, out: list[StreamEvent]) -> None:
        name = self._reader.tool
        if name is not None and self._open is None:
            self._open = new_id("call")
            out.append(BlockStarted(index=index, block_type="tool_use", tool_name=name, tool_call_id=self._open))
        if text:
            if not self._text:
                out.append(BlockStarted(index=index, block_type="text"))
            self._text.append(text)
            out.append(TextPart(index=index, text=text))

    def _close(self, index: int, out: list[StreamEvent]) -> None:
        if self._text:
            out.append(BlockFinished(index=index, block=TextBlock(text="".join(self._text))))
        elif self._open is not None:
            given, invalid = self._reader.call()
            name = self._reader.tool or ""
            block = ToolUseBlock(id=self._open, name=name, input=given, invalid=invalid)
            out.append(BlockFinished(index=index, block=block))
            self._called = True
