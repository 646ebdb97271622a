"""A script inside the message, which survives restarts of the server and any engine in between.

A message of the user may hold one directive, `[[key=value ...]]`, for example
``[[text=200 rate=50 tools=3 tool=bash input={"command":"echo $round"} delay=0.1]]``. It alone decides the
answer: k rounds of tool calls, then N numbered words (``w000001 w000002 …``), so that a client can check that
a whole answer arrived, in order and once. The round is counted from the tool results in the request; the
server keeps no state. Values are plain words, or JSON when they begin with ``{``, ``[`` or ``"``.

=============  ===========================================================================================
``text``       words in the answer (default 50)
``thinking``   words thought before the answer (0)
``rate``       tokens per second (the server's; 0 is unthrottled)
``delay``      seconds before the first byte of every call (0)
``chunk``      how text is cut: ``word``, ``all`` or a number of characters (``word``)
``fragment``   cut the stream every n bytes, whatever they mean
``tools``      rounds of tool calls before the answer (0)
``parallel``   tool calls in each round (1)
``tool``       the tool to call (the first one offered; with none offered there are no rounds)
``input``      its input, a JSON object; ``$round`` and ``$call`` in its strings become numbers from 1 ({})
``stop``       the stop reason of the answer
``usage``      ``[input,output,cache_read,cache_write]`` of every call
``stall``      seconds of silence in the middle of the answer (``inf`` until the client leaves)
``hold``       name of a `Hold` in the middle of the answer
``error``      kind of an error event in the middle of the answer
``cut``        ``close`` or ``reset`` the connection in the middle of the answer
``at``         the word after which these four happen (half of ``text``)
``native``     ``false`` is an endpoint without tools: calls that offer some are refused (``true``)
``fail``       answer every call with this HTTP status
``kind``       what kind of error ``fail`` is (what fits the status)
``retry_after``  seconds in the Retry-After header of ``fail``
``id``         nothing: a mark to find the call by
=============  ===========================================================================================
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from aster.testing.conversation import Conversation
from aster.testing.script import (
    Answer,
    Chunk,
    Cut,
    ErrorKind,
    Failure,
    Fault,
    Hold,
    Part,
    Reply,
    Stall,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

_OPENING = re.compile(r"\[\[\s*(?=[a-z_]+=)")
_KEY = re.compile(r"\s*([a-z_]+)=")
_WORD = re.compile(r"[^\s\]]+")
_CLOSING = re.compile(r"\s*\]\]")


class Directive(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a directive; the module says what they mean."""

    text: int = 50
    thinking: int = 0
    rate: float | None = None
    delay: float = 0.0
    chunk: Chunk = "word"
    fragment: int | None = None
    tools: int = 0
    parallel: int = 1
    tool: str | None = None
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    stop: StopReason | None = None
    usage: tuple[int, int, int, int] | None = None
    stall: float | None = None
    hold: str | None = None
    error: ErrorKind | None = None
    cut: Literal["close", "reset"] | None = None
    at: int | None = None
    native: bool = True
    fail: int | None = None
    kind: ErrorKind | None = None
    retry_after: float | None = None
    id: str = ""


def parse(text: str) -> Directive | None:
    """The last directive in a text; raises ValueError with a reason when there is one that cannot be read."""
    openings = list(_OPENING.finditer(text))
    if not openings:
        return None
    values: dict[str, Any] = {}
    position = openings[-1].end()
    while not (closing := _CLOSING.match(text, position)):
        key = _KEY.match(text, position)
        if key is None:
            raise ValueError(f"expected key=value or ]] at {text[position : position + 20]!r}")
        values[key[1]], position = _value(text, key.end())
    assert closing
    if values.get("stall") == "inf":
        values["stall"] = math.inf
    try:
        return msgspec.convert(values, Directive, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def _value(text: str, position: int) -> tuple[Any, int]:
    if text[position : position + 1] in ("{", "[", '"'):
        return json.JSONDecoder().raw_decode(text, position)
    word = _WORD.match(text, position)
    if word is None:
        raise ValueError(f"expected a value at {text[position : position + 20]!r}")
    return word[0], word.end()


def answer(conversation: Conversation) -> Answer | None:
    """What the directive of this turn says now; None when there is none."""
    for index, text in conversation.said_this_turn():
        try:
            directive = parse(text)
        except ValueError as error:
            return Failure(400, "invalid_request", f"The directive cannot be read: {error}")
        if directive is not None:
            return _obey(directive, conversation, len(conversation.results_after(index)))
    return None


def _obey(directive: Directive, conversation: Conversation, results: int) -> Answer:
    if directive.fail is not None:
        return Failure(
            directive.fail, directive.kind, retry_after=directive.retry_after, first_byte_delay=directive.delay
        )
    if not directive.native and conversation.tools:
        return Failure(kind="no_tools", first_byte_delay=directive.delay)
    tool = directive.tool or (conversation.tools[0].name if conversation.tools else None)
    done = results // directive.parallel
    calling = tool is not None and done < directive.tools
    parts = _calls(directive, tool, done + 1) if tool is not None and calling else _words(directive)
    return Reply(
        list(parts),
        stop_reason=None if calling else directive.stop,
        usage=Usage(*directive.usage) if directive.usage else None,
        first_byte_delay=directive.delay,
        rate=directive.rate,
        chunk=directive.chunk,
        fragment=directive.fragment,
    )


def _calls(directive: Directive, tool: str, round_: int) -> Iterator[Part]:
    for call in range(1, directive.parallel + 1):
        yield ToolCall(tool, _numbered(directive.input, {"$round": str(round_), "$call": str(call)}))


def _numbered(value: Any, numbers: dict[str, str]) -> Any:
    match value:
        case str():
            return re.sub(r"\$(?:round|call)\b", lambda name: numbers[name[0]], value)
        case list():
            return [_numbered(item, numbers) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: _numbered(item, numbers) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _words(directive: Directive) -> Iterator[Part]:
    if directive.thinking:
        yield Thinking(numbered_words(1, directive.thinking))
    faults = list(_faults(directive))
    if not faults:
        yield Text(numbered_words(1, directive.text))
        return
    at = directive.text // 2 if directive.at is None else directive.at
    yield Text(numbered_words(1, at))
    yield from faults
    yield Text(numbered_words(at + 1, directive.text))


def _faults(directive: Directive) -> Iterator[Fault]:
    if directive.stall is not None:
        yield Stall(directive.stall)
    if directive.hold is not None:
        yield Hold(directive.hold)
    if directive.error is not None:
        yield StreamError(directive.error)
    if directive.cut is not None:
        yield Cut(reset=directive.cut == "reset")


def numbered_words(first: int, last: int) -> str:
    """``w000001 w000002 …``: eight characters each, so that every loss, repetition or swap shows."""
    return "".join(f"w{number:06d} " for number in range(first, last + 1))
