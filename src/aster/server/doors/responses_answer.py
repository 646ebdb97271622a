"""An answer as `/v1/responses` gives it: a response that grows item by item, and the events that tell how.

One class makes both: whoever wants no events leaves them unread. The same records give the same response, live or
read again from the thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from aster.brain.doors import PlaceKind
from aster.contracts.blocks import ToolUseBlock
from aster.contracts.events import HitlRequest
from aster.contracts.llm import StopReason, TokenUsage
from aster.contracts.model import encode
from aster.engine_core.door_places import BETWEEN
from aster.server.doors.chat_answer import question
from aster.server.doors.lines import Line, said
from aster.server.doors.refusal import described
from aster.server.doors.turn import BlockEnd, Ended, Piece, TakenBack, Thought, Words

Json: TypeAlias = dict[str, Any]

_LAST: Final = (1 << 30, 0)
_SHORT: Final = {
    StopReason.MAX_TOKENS: "max_output_tokens",
    "max_turns": "max_tool_calls",
    StopReason.REFUSAL: "content_filter",
}


class ResponseId(NamedTuple):
    """A response is what a turn says between two of its rests: the turn, and which of its segments."""

    turn_id: str
    segment: int

    def __str__(self) -> str:
        return f"resp_{self.turn_id.removeprefix('turn-')}_{self.segment}"

    @classmethod
    def read(cls, text: str) -> "ResponseId | None":
        parts = text.split("_")
        if len(parts) != 3 or parts[0] != "resp" or not parts[2].isdigit():
            return None
        return cls(f"turn-{parts[1]}", int(parts[2][:9]))


@dataclass(slots=True)
class ResponsesAnswer:
    """What a response holds so far. `frame` is what it says of its request; `whole`: nobody has seen it yet, so what
    is taken back is simply gone."""

    id: ResponseId
    created_at: int
    frame: Json
    whole: bool = False
    ended: Ended | None = None
    output: list[Json] = field(default_factory=list[Json])
    _steps: list[int] = field(default_factory=list[int])
    _open: tuple[tuple[int, int], Json] | None = None
    _number: int = -1
    _again: bool = False

    def begin(self) -> Iterator[Json]:
        """The events before anything is said."""
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self.response())

    def take(self, said: list[Piece]) -> None:
        """Let the response grow; for whoever waits until it is whole."""
        for piece in said:
            for _ in self.events(piece):
                pass

    def events(self, piece: Piece) -> Iterator[Json]:
        """What a piece adds to the response."""
        match piece:
            case Words() | Thought():
                yield from self._more(piece.text, piece.block, thought=isinstance(piece, Thought))
            case BlockEnd():
                yield from self._close()
            case TakenBack():
                self._again = True
                yield from self._close("incomplete")
                if self.whole:
                    kept = [at for at, step in enumerate(self._steps) if step != piece.step]
                    self.output = [self.output[at] for at in kept]
                    self._steps = [self._steps[at] for at in kept]
            case Ended():
                yield from self._end(piece)
            case _:
                pass

    def _more(self, text: str, block: tuple[int, int], *, thought: bool) -> Iterator[Json]:
        if self._open is None or self._open[0] != block:
            yield from self._close()
            yield from self._begun(block, thought=thought)
        assert self._open is not None, "an item was just opened"
        item = self._open[1]
        place: Json = {"summary_index": 0} if thought else {"content_index": 0, "logprobs": []}
        kind = "response.reasoning_summary_text.delta" if thought else "response.output_text.delta"
        item["summary" if thought else "content"][0]["text"] += text
        yield self._event(kind, item_id=item["id"], output_index=len(self.output) - 1, delta=text, **place)

    def _begun(self, block: tuple[int, int], *, thought: bool) -> Iterator[Json]:
        at = len(self.output)
        name = f"{self.id.turn_id.removeprefix('turn-')}_{self.id.segment}_{at}"
        item: Json
        if thought:
            part: Json = {"type": "summary_text", "text": ""}
            item = {"type": "reasoning", "id": f"rs_{name}", "summary": [part]}
            yield self._event("response.output_item.added", output_index=at, item={**item, "summary": []})
            kind, place = "response.reasoning_summary_part.added", {"summary_index": 0}
        else:
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            head: Json = {"type": "message", "id": f"msg_{name}", "role": "assistant", "status": "in_progress"}
            item = {**head, "content": [part]}
            yield self._event("response.output_item.added", output_index=at, item={**head, "content": []})
            kind, place = "response.content_part.added", {"content_index": 0}
        self.output.append(item)
        self._steps.append(block[0])
        self._open = block, item
        yield self._event(kind, item_id=item["id"], output_index=at, part=dict(part), **place)

    def _close(self, status: str = "completed") -> Iterator[Json]:
        if self._open is None:
            return
        item, self._open = self._open[1], None
        at = len(self.output) - 1
        place = {"item_id": item["id"], "output_index": at}
        if item["type"] == "reasoning":
            part, place = item["summary"][0], place | {"summary_index": 0}
            yield self._event("response.reasoning_summary_text.done", text=part["text"], **place)
            yield self._event("response.reasoning_summary_part.done", part=part, **place)
        else:
            part, place = item["content"][0], place | {"content_index": 0}
            item["status"] = status
            yield self._event("response.output_text.done", text=part["text"], logprobs=[], **place)
            yield self._event("response.content_part.done", part=part, **place)
        yield self._event("response.output_item.done", output_index=at, item=item)

    def _end(self, ended: Ended) -> Iterator[Json]:
        self.ended = ended
        yield from self._close("completed" if ended.error is None and not ended.cancelled else "incomplete")
        if ended.asked is not None:
            yield from self._more(question(ended.asked), _LAST, thought=False)
            yield from self._close()
        for call in ended.calls:
            yield from self._call(call)
        kind = {"failed": "response.failed", "completed": "response.completed"}.get(
            self.status, "response.incomplete"
        )
        yield self._event(kind, response=self.response())

    def _call(self, call: HitlRequest) -> Iterator[Json]:
        at = len(self.output)
        item: Json = {
            "type": "function_call",
            "id": f"fc_{self.id.turn_id.removeprefix('turn-')}_{self.id.segment}_{at}",
            "call_id": call.tool_call_id,
            "name": call.tool,
            "arguments": encode(call.input or {}).decode(),
            "status": "completed",
        }
        begun = {**item, "arguments": "", "status": "in_progress"}
        place = {"item_id": item["id"], "output_index": at}
        yield self._event("response.output_item.added", output_index=at, item=begun)
        yield self._event("response.function_call_arguments.delta", delta=item["arguments"], **place)
        yield self._event(
            "response.function_call_arguments.done", arguments=item["arguments"], name=item["name"], **place
        )
        self.output.append(item)
        self._steps.append(_LAST[0])
        yield self._event("response.output_item.done", output_index=at, item=item)

    def _event(self, kind: str, **fields: Any) -> Json:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    @property
    def status(self) -> str:
        ended = self.ended
        if ended is None:
            return "in_progress"
        if ended.cancelled:
            return "cancelled"
        if ended.error is not None:
            return "failed"
        return "incomplete" if ended.stop_reason in _SHORT else "completed"

    @property
    def line(self) -> Line:
        """The answer as the client will send it back, if it sends all."""
        texts = [item["content"][0]["text"] for item in self.output if item["type"] == "message"]
        calls = () if self.ended is None else self.ended.calls
        blocks = (ToolUseBlock(id=c.tool_call_id or "", name=c.tool or "", input={}) for c in calls)
        return said(BETWEEN.join(texts), blocks)

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

    def response(self) -> Json:
        """The response as it is now."""
        ended, status = self.ended, self.status
        error = None if ended is None or ended.cancelled else ended.error
        said_error = None if error is None else described(error, 500)
        short = None if status != "incomplete" or ended is None else {"reason": _SHORT[ended.stop_reason]}
        return {
            "id": str(self.id),
            "object": "response",
            "created_at": self.created_at,
            "completed_at": ended.at if ended is not None and status == "completed" else None,
            "status": status,
            "incomplete_details": short,
            "error": said_error and {"code": said_error["code"], "message": said_error["message"]},
            "output": list(self.output),
            "usage": None if ended is None else usage_of(ended.usage),
            **self.frame,
        }


def usage_of(usage: TokenUsage) -> Json:
    return {
        "input_tokens": usage.input_total,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_total + usage.output,
    }
