"""The vocabulary of a script: what the model server says, how it says it, and when it misbehaves.

Everything here is plain data (frozen msgspec structs, tagged by ``type``), so that a script written in
Python and one loaded from a JSON file are the same thing. Nothing here knows a wire format: the same
`Reply` is spoken by every protocol.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field, json

from aster.testing.calls import RecordedCall

StopReason = Literal[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]
ErrorKind = Literal[
    "invalid_request",
    "no_tools",
    "context_overflow",
    "authentication",
    "quota",
    "permission",
    "not_found",
    "too_large",
    "rate_limit",
    "server_error",
    "unavailable",
    "timeout",
    "overloaded",
]
Chunk: TypeAlias = int | Literal["word", "all"]


class _Data(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Usage(_Data, frozen=True):
    """Tokens of one call in four buckets that do not overlap: `input` excludes what the cache served or stored."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Stall(_Data, frozen=True, tag="stall"):
    """Silence for so many seconds; None is for ever, until the client hangs up."""

    seconds: float | None = None


class Hold(_Data, frozen=True, tag="hold"):
    """Silence until `ModelServer.release(name)`: how a test stops a stream at an exact place, without a clock."""

    name: str = "hold"


class Cut(_Data, frozen=True, tag="cut"):
    """The connection ends here, without the end of the reply; with `reset` by a TCP reset instead of a close."""

    reset: bool = False


class Malformed(_Data, frozen=True, tag="malformed"):
    """Raw bytes put into the stream as they are (base64 in a JSON script)."""

    data: bytes


class StreamError(_Data, frozen=True, tag="stream_error"):
    """An error inside a stream that began well, in the protocol's own form; the reply ends with it."""

    kind: ErrorKind = "overloaded"
    message: str | None = None


Fault: TypeAlias = Stall | Hold | Cut | Malformed | StreamError


class Ping(_Data, frozen=True, tag="ping"):
    """A sign of life without content: the protocol's ping, or an SSE comment if one is given."""

    comment: str | None = None


class Text(_Data, frozen=True, tag="text"):
    """What the model says. Texts with nothing but faults and pings between them are one block."""

    text: str


class Thinking(_Data, frozen=True, tag="thinking"):
    """What the model thinks. The signature is derived from the text unless given; "" sends none."""

    text: str
    signature: str | None = None


class RedactedThinking(_Data, frozen=True, tag="redacted_thinking"):
    """Thinking that came encrypted. Anthropic's protocol and Responses carry it; the others leave it out."""

    data: str = "EmwKAhgBEgyRZWRhY3RlZCB0aG91Z2h0"


class ToolCall(_Data, frozen=True, tag="tool_call"):
    """A call of one tool. `raw_arguments` is sent in place of `input`, valid JSON or not.

    `midway` happens when half of the arguments are out.
    """

    name: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None
    raw_arguments: str | None = None
    midway: Sequence[Fault] = ()

    @property
    def arguments(self) -> str:
        if self.raw_arguments is not None:
            return self.raw_arguments
        return json.encode(self.input).decode()


Part: TypeAlias = (
    Text | Thinking | RedactedThinking | ToolCall | Ping | Stall | Hold | Cut | Malformed | StreamError
)


class Reply(_Data, frozen=True, tag="reply"):
    """One answer of the model.

    `chunk` says how text is cut (by word, in one piece, or every n characters); one piece is one token of
    `rate` (tokens per second; None takes the server's, 0 is as fast as it goes). `fragment` cuts the bytes of
    the stream every n bytes, whatever they mean. Without `usage` the server counts, without `stop_reason` it
    is `tool_use` if a tool is called and `end_turn` otherwise.
    """

    parts: Sequence[Part] = ()
    stop_reason: StopReason | None = None
    stop_sequence: str | None = None
    usage: Usage | None = None
    first_byte_delay: float = 0.0
    rate: float | None = None
    chunk: Chunk = "word"
    fragment: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def stopped_by(self) -> StopReason:
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(part, ToolCall) for part in self.parts) else "end_turn"


class Failure(_Data, frozen=True, tag="failure"):
    """An HTTP error in the provider's own words. Status and kind each default to what fits the other."""

    status: int | None = None
    kind: ErrorKind | None = None
    message: str | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    first_byte_delay: float = 0.0


Answer: TypeAlias = Reply | Failure


class Rule(_Data, frozen=True):
    """Gives `reply` to the calls that fit every condition it states.

    `match`, `model` and `system` are regular expressions, searched in the last thing the user said, the model
    asked for and the system prompt. `round` is the number of tool results since the user spoke, `tool` the tool
    whose result came last, `offers` a tool the request offers. `chance` lets it apply to that share of the
    calls that fit, `times` to so many of them.
    """

    reply: Answer
    match: str | None = None
    round: int | None = None
    tool: str | None = None
    offers: str | None = None
    model: str | None = None
    system: str | None = None
    chance: float = 1.0
    times: int | None = None


CallableRule: TypeAlias = Callable[[RecordedCall], Answer | Awaitable[Answer | None] | None]


class Script(_Data, frozen=True):
    """A whole script, as it stands in a JSON file: answers given first in order, then rules."""

    rules: Sequence[Rule] = ()
    queue: Sequence[Answer] = ()
    rate: float | None = None

    @classmethod
    def load(cls, data: bytes | str) -> "Script":
        return json.decode(data, type=cls)

    def dump(self) -> bytes:
        return json.encode(self)
