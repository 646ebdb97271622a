"""What every wire format shares: the frames of a reply, how text is cut into tokens, how tokens are counted.

A wire turns a `Reply` into frames (bytes with the number of tokens they carry) and leaves stalls, holds and
cuts in their place between them; sending them on time is not its business.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from msgspec import Struct, structs

from aster.testing.calls import Protocol as ProtocolName
from aster.testing.conversation import Conversation
from aster.testing.failures import HttpAnswer, new_id
from aster.testing.script import (
    Chunk,
    Cut,
    Failure,
    Hold,
    Malformed,
    RedactedThinking,
    Reply,
    Stall,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

_WORD = re.compile(r"\S+\s*|\s+")
_ARGUMENTS_PIECE = 16


class Frame(NamedTuple):
    """Bytes that go out together, and the number of tokens they carry."""

    data: bytes
    tokens: int = 0


Step: TypeAlias = Frame | Stall | Hold | Cut
Block: TypeAlias = Text | Thinking | RedactedThinking | ToolCall


class Envelope(Struct, frozen=True):
    """What a reply repeats of its request, and what it is numbered and counted with."""

    id: str
    model: str
    usage: Usage
    tokens: int
    thinking_tokens: int
    include_usage: bool


class Wire(Protocol):
    """One wire format."""

    name: ClassVar[ProtocolName]
    id_prefix: ClassVar[str]

    def read(self, body: dict[str, Any], size: int) -> Conversation:
        """Reads a request; raises `msgspec.ValidationError` when it is not one."""
        ...

    def objection(self, conversation: Conversation) -> str | None:
        """Why the provider would refuse this history, in its words; None when it would not."""
        ...

    def headers(self, envelope_id: str) -> dict[str, str]: ...

    def stream(self, reply: Reply, envelope: Envelope) -> Iterator[Step]: ...

    def whole(self, reply: Reply, envelope: Envelope) -> bytes: ...

    def failure(self, failure: Failure, model: str) -> HttpAnswer: ...


def pieces(text: str, chunk: Chunk) -> list[str]:
    if chunk == "all":
        return [text] if text else []
    if chunk == "word":
        return _WORD.findall(text)
    return [text[start : start + chunk] for start in range(0, len(text), chunk)]


def argument_pieces(call: ToolCall, chunk: Chunk) -> list[str]:
    """The arguments in at least three pieces when they are long enough, so that nobody gets them whole."""
    text = call.arguments
    size = chunk if isinstance(chunk, int) else min(_ARGUMENTS_PIECE, -(-len(text) // 3) or 1)
    return pieces(text, size)


def blocks(reply: Reply) -> list[Block]:
    """The content of a reply without its faults; neighbouring texts are one block."""
    found: list[Block] = []
    for part in reply.parts:
        match part:
            case Text():
                last = found[-1] if found else None
                if isinstance(last, Text):
                    found[-1] = Text(last.text + part.text)
                else:
                    found.append(part)
            case Thinking() | RedactedThinking() | ToolCall():
                found.append(part)
            case _:
                pass
    return found


def signature_of(thinking: Thinking) -> str:
    if thinking.signature is not None:
        return thinking.signature
    return base64.b64encode(hashlib.sha256(thinking.text.encode()).digest()).decode()


def seal(wire: Wire, reply: Reply, conversation: Conversation, prompt: Usage | None = None) -> Envelope:
    """The envelope of a reply to this conversation, counted unless the script (or, of its prompt, a cache) did."""
    spoken, thought = 0, 0
    for block in blocks(reply):
        match block:
            case Text(text):
                spoken += len(pieces(text, reply.chunk))
            case Thinking(text):
                thought += len(pieces(text, reply.chunk))
            case ToolCall():
                spoken += len(argument_pieces(block, reply.chunk))
            case RedactedThinking():
                thought += 1
    counted = prompt or Usage(input=conversation.prompt_tokens)
    usage = reply.usage or structs.replace(counted, output=spoken + thought)
    return Envelope(
        id=new_id(wire.id_prefix),
        model=conversation.model,
        usage=usage,
        tokens=spoken + thought,
        thinking_tokens=min(thought, usage.output),
        include_usage=conversation.include_usage,
    )


def spoil(body: bytes, reply: Reply) -> bytes:
    """The body of a reply that is not a stream, with malformed bytes in place of its second half."""
    malformed = b"".join(part.data for part in every_part(reply) if isinstance(part, Malformed))
    return body[: len(body) // 2] + malformed if malformed else body


def whole_steps(reply: Reply, envelope: Envelope, body: bytes) -> Iterator[Step]:
    """A reply that is not a stream: all its silences, then the body, or half of it when it is cut."""
    cut: Cut | None = None
    for part in every_part(reply):
        match part:
            case Stall() | Hold():
                yield part
            case Cut():
                cut = cut or part
            case _:
                pass
    yield Frame(b"", tokens=envelope.tokens)
    if cut is None:
        yield Frame(body, tokens=1)
        return
    yield Frame(body[: len(body) // 2], tokens=1)
    yield cut


def every_part(reply: Reply) -> Iterable[object]:
    for part in reply.parts:
        yield part
        if isinstance(part, ToolCall):
            yield from part.midway


def error_in(reply: Reply) -> StreamError | None:
    return next((part for part in every_part(reply) if isinstance(part, StreamError)), None)
