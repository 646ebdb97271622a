"""What a wire protocol is to the gateway: requests out as bytes, frames in as events, refusals as failures.

A protocol is pure: it opens no connection, keeps no state between calls and knows no clock. Everything that
one call accumulates lives in its decoder.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec

from aster.contracts.blocks import MediaKind, ToolUseBlock
from aster.contracts.llm import ModelRequest, StreamEvent, TokenUsage
from aster.herald.endpoint import Endpoint, ProtocolName
from aster.herald.failure import FailureKind, HeraldError


class Encoded(NamedTuple):
    """A request as it goes out; the gateway adds what the endpoint and HTTP want."""

    path: str
    headers: dict[str, str]
    body: bytes


class SoFar(NamedTuple):
    """What is known of an answer under way: tokens as the provider counts them, and the characters that came."""

    usage: TokenUsage = TokenUsage()
    characters: int = 0

    @property
    def begun(self) -> bool:
        return self.characters > 0 or self.usage != TokenUsage()


class Decoder(Protocol):
    """Turns the frames of one answer into events; `finished` once the provider has closed it properly."""

    finished: bool

    def feed(self, event: str, data: bytes) -> list[StreamEvent]:
        """The events of one frame; raises `HeraldError` when the frame is an error or no frame at all."""
        ...

    def end(self) -> list[StreamEvent]:
        """The connection is at its end: the last events, or `HeraldError` when the answer was cut off."""
        ...

    def so_far(self) -> SoFar:
        """What has come until now, for an answer that comes no further."""
        ...


class WireProtocol(Protocol):
    name: ClassVar[ProtocolName]
    headers: ClassVar[Mapping[str, str]]
    probe_path: ClassVar[str]
    takes: ClassVar[frozenset[MediaKind]]
    """The kinds of media it carries as they are."""

    def encode(self, request: ModelRequest, endpoint: Endpoint) -> Encoded: ...

    def decoder(self, request: ModelRequest) -> Decoder: ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> HeraldError:
        """What an answer that is not a stream means."""
        ...


def cut_off() -> HeraldError:
    return HeraldError(FailureKind.TRANSPORT, "the answer ended before it was complete")


def malformed(data: bytes) -> HeraldError:
    shown = data[:200].decode("utf-8", "replace")
    return HeraldError(FailureKind.PROVIDER, f"a frame of the answer is not what the protocol says: {shown}")


_arguments = msgspec.json.Decoder(dict[str, Any])


def tool_use(call_id: str, name: str, arguments: str) -> ToolUseBlock:
    """The call, whole; arguments that are no JSON object are kept as they came."""
    if not arguments.strip():
        return ToolUseBlock(id=call_id, name=name, input={})
    try:
        return ToolUseBlock(id=call_id, name=name, input=_arguments.decode(arguments))
    except msgspec.DecodeError:
        return ToolUseBlock(id=call_id, name=name, input={}, invalid=arguments)
