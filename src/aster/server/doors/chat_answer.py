"""An answer as `/v1/chat/completions` gives it: one form, whole or in chunks.

A client sends back what it saw, so what was shown is kept exactly: text that a chunk has carried cannot be unsaid, and
a step that is asked again is shown after it, apart from it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from aster.brain.doors import PlaceKind
from aster.contracts.blocks import ToolUseBlock
from aster.contracts.events import HitlRequest
from aster.contracts.llm import StopReason, TokenUsage
from aster.contracts.model import encode
from aster.engine_core.door_places import BETWEEN
from aster.server.doors.lines import Line, said
from aster.server.doors.turn import Ended, Piece, TakenBack, Thought, Words

_LAST: Final = (-1, -1)
_FINISH: Final = {
    StopReason.MAX_TOKENS: "length",
    "max_turns": "length",
    StopReason.REFUSAL: "content_filter",
}


@dataclass(slots=True)
class ChatAnswer:
    """What has been said so far. `whole`: nothing was shown yet, so what is taken back is simply gone."""

    id: str
    model: str
    whole: bool
    created: int = field(default_factory=lambda: int(time.time()))
    ended: Ended | None = None
    _head: bytes = b""
    _blocks: list[tuple[tuple[int, int], list[str]]] = field(
        default_factory=list[tuple[tuple[int, int], list[str]]]
    )
    _thoughts: list[str] = field(default_factory=list[str])
    _apart: bool = False
    _again: bool = False

    def __post_init__(self) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        self._head = b"data: %s," % encode(head)[:-1]

    def take(self, said: list[Piece]) -> None:
        """Let the answer grow; for whoever waits until it is whole."""
        for piece in said:
            for _ in self.deltas(piece):
                pass

    def chunks(self, said: list[Piece]) -> bytes:
        """The chunks that pieces amount to."""
        return b"".join([self.chunk(delta) for piece in said for delta in self.deltas(piece)])

    def deltas(self, piece: Piece) -> Iterator[dict[str, Any]]:
        """What a piece adds to the message."""
        match piece:
            case Words():
                yield from self._add(piece.text, piece.block)
            case Thought():
                self._thoughts.append(piece.text)
                yield {"reasoning_content": piece.text}
            case TakenBack():
                self._apart = self._again = True
                if self.whole:
                    self._blocks = [block for block in self._blocks if block[0][0] != piece.step]
            case Ended():
                self.ended = piece
                if piece.asked is not None:
                    yield from self._add(question(piece.asked), _LAST)
                if piece.calls:
                    yield {"tool_calls": [_call(call, at) for at, call in enumerate(piece.calls)]}
            case _:
                pass

    def _add(self, text: str, block: tuple[int, int]) -> Iterator[dict[str, Any]]:
        between = ""
        if self._apart or not self._blocks or self._blocks[-1][0] != block:
            between = BETWEEN if self._blocks else ""
            self._blocks.append((block, []))
        self._apart = False
        self._blocks[-1][1].append(text)
        yield {"content": between + text}

    @property
    def text(self) -> str:
        return BETWEEN.join("".join(parts) for _, parts in self._blocks)

    @property
    def line(self) -> Line:
        """The answer as the client will send it back."""
        ended = self.ended
        calls = () if ended is None else ended.calls
        return said(self.text, (ToolUseBlock(id=c.tool_call_id or "", name=c.tool or "", input={}) for c in calls))

    @property
    def kind(self) -> PlaceKind:
        assert self.ended is not None, "an answer is noted when it is over"
        if self.ended.calls:
            return "called"
        return "answered" if self.ended.asked is None else "waiting"

    @property
    def at_once(self) -> bool:
        """Whether it was said once, in full, with nothing taken back."""
        return not self._again and self.ended is not None and not self.ended.cancelled

    @property
    def finish(self) -> str:
        assert self.ended is not None, "an answer has its reason when it is over"
        return "tool_calls" if self.ended.calls else _FINISH.get(self.ended.stop_reason, "stop")

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._frame({"choices": [choice]})

    def usage_chunk(self) -> bytes:
        assert self.ended is not None, "usage is told when an answer is over"
        return self._frame({"choices": [], "usage": usage_of(self.ended.usage)})

    def _frame(self, fields: dict[str, Any]) -> bytes:
        return b"%s%s\n\n" % (self._head, encode(fields)[1:])

    def completion(self) -> dict[str, Any]:
        """The whole answer at once."""
        assert self.ended is not None, "an answer is whole when it is over"
        calls = [_call(call) for call in self.ended.calls]
        message: dict[str, Any] = {"role": "assistant", "content": self.text if self.text or not calls else None}
        message["refusal"] = None
        if self._thoughts:
            message["reasoning_content"] = "".join(self._thoughts)
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish}
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [choice],
            "usage": usage_of(self.ended.usage),
            "system_fingerprint": None,
        }


def question(asked: HitlRequest) -> str:
    """What a person has to answer before the turn goes on, and how."""
    options = f" ({', '.join(asked.options)})" if asked.options else ""
    return (
        f"{asked.question}\n\nThis waits for an answer{options}: reply with it here, or POST /hitl/respond with"
        f' {{"request_id": "{asked.request_id}", "answer": …}}.'
    )


def usage_of(usage: TokenUsage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_total,
        "completion_tokens": usage.output,
        "total_tokens": usage.input_total + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


def _call(call: HitlRequest, index: int | None = None) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": encode(call.input or {}).decode()}
    said_call = {"id": call.tool_call_id, "type": "function", "function": function}
    return said_call if index is None else {"index": index, **said_call}
