"""How a turn is asked of Aster and of the proxy, and what the client saw of it.

Both are asked the same thing on the same model. The proxy remembers nothing and runs no tool, so its client does
that: it keeps the conversation, sends all of it every time, and answers a tool call with a constant.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from benchmarks.client import Client
from benchmarks.prompt import Prompt, WrongAnswer
from benchmarks.servers import Server


@dataclass(slots=True)
class Turn:
    """One turn as its client saw it; `pieces` are the texts with the times they came at."""

    sent: float = 0.0
    ended: float = 0.0
    tool_results: int = 0
    pieces: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    @property
    def first(self) -> float:
        return self.pieces[0][0]

    @property
    def seconds(self) -> float:
        return self.ended - self.sent

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


class Subject(Protocol):
    """What is measured."""

    name: str
    server: Server

    async def turn(self, prompt: Prompt, task: str | None = None, *, timeout: float = 60.0) -> Turn:
        """Ask, and check that the answer is whole; without a task it is a new one."""
        ...


class _Delta(msgspec.Struct):
    text: str


class _Lifecycle(msgspec.Struct):
    phase: str
    stop_reason: str | None = None


_delta = msgspec.json.Decoder(_Delta)
_lifecycle = msgspec.json.Decoder(_Lifecycle)
_TEXT = b"event: text_delta\n"
_DATA = b"\ndata: "


def kind_of(event: bytes) -> bytes:
    """The type of one of Aster's events; empty for a frame that has none."""
    start = event.find(b"event: ")
    return event[start + 7 : event.find(b"\n", start)] if start >= 0 else b""


def data_of(event: bytes) -> bytes:
    return event[event.index(_DATA) + 7 :]


def text_of(event: bytes) -> str:
    """The text of a `text_delta`."""
    return _delta.decode(data_of(event)).text


def is_end(event: bytes) -> bool:
    """Whether this is the completion of a turn."""
    return kind_of(event) == b"thread_lifecycle" and _lifecycle.decode(data_of(event)).phase == "completed"


class Aster:
    name = "aster"

    def __init__(self, server: Server) -> None:
        self.server = server
        self._tasks = 0

    async def turn(self, prompt: Prompt, task: str | None = None, *, timeout: float = 60.0) -> Turn:
        turn, ending, trouble = Turn(), _Lifecycle("missing"), b""
        pieces, decode = turn.pieces, _delta.decode

        def take(event: bytes, at: float) -> bool:
            nonlocal ending, trouble
            if _TEXT in event:
                pieces.append((at, decode(data_of(event)).text))
                return False
            match kind_of(event):
                case b"thread_lifecycle":
                    ending = _lifecycle.decode(data_of(event))
                case b"tool_result":
                    turn.tool_results += 1
                case b"tool_error" | b"error" | b"hitl_request" | b"permission_prompt":
                    trouble = event
                case _:
                    pass
            return bool(trouble)

        answer = await self.server.client.post("/execute", self.order(prompt, task), take, timeout=timeout)
        turn.sent, turn.ended = answer.sent, answer.ended
        if trouble:
            raise WrongAnswer(trouble.decode(errors="replace"))
        if ending.phase != "completed":
            raise WrongAnswer(f"the turn ended with {ending}")
        if turn.tool_results != prompt.tool_rounds:
            raise WrongAnswer(f"{turn.tool_results} tool results in place of {prompt.tool_rounds}")
        prompt.check(turn.text)
        return turn

    def order(self, prompt: Prompt, task: str | None = None) -> bytes:
        self._tasks += 1
        return msgspec.json.encode({"message": prompt.text, "task_id": task or f"task-{self._tasks}"})


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class _ToolCall(msgspec.Struct):
    id: str = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Content(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] = []


class _Choice(msgspec.Struct):
    delta: _Content


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_chunk = msgspec.json.Decoder(_Chunk)


class PlainProxy:
    name = "proxy"

    def __init__(self, server: Server) -> None:
        self.server = server
        self._conversations: dict[str, list[dict[str, Any]]] = {}

    async def turn(self, prompt: Prompt, task: str | None = None, *, timeout: float = 60.0) -> Turn:
        messages = [] if task is None else self._conversations.setdefault(task, [])
        messages.append({"role": "user", "content": prompt.text})
        turn = Turn()
        while await _called(self.server.client, messages, turn, timeout):
            turn.tool_results += 1
            messages.append(
                {"role": "tool", "tool_call_id": messages[-1]["tool_calls"][0]["id"], "content": "done"}
            )
        if turn.tool_results != prompt.tool_rounds:
            raise WrongAnswer(f"{turn.tool_results} tool calls in place of {prompt.tool_rounds}")
        prompt.check(turn.text)
        return turn


async def _called(client: Client, messages: list[dict[str, Any]], turn: Turn, timeout: float) -> bool:
    """One model call: its answer goes onto the conversation; True when it calls a tool."""
    said: list[str] = []
    calls: list[_ToolCall] = []
    body = msgspec.json.encode({"model": "scripted", "stream": True, "messages": messages})
    answer = await client.post("/v1/chat/completions", body, _reader(turn, said, calls), timeout=timeout)
    turn.sent, turn.ended = turn.sent or answer.sent, answer.ended
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said)}
    if calls:
        function = {"name": calls[0].function.name, "arguments": "".join(c.function.arguments for c in calls)}
        message["tool_calls"] = [{"id": calls[0].id, "type": "function", "function": function}]
    messages.append(message)
    return bool(calls)


def _reader(turn: Turn, said: list[str], calls: list[_ToolCall]) -> Callable[[bytes, float], bool]:
    pieces, decode = turn.pieces, _chunk.decode

    def take(event: bytes, at: float) -> bool:
        if not event.startswith(b"data: {"):
            return False
        for choice in decode(event[6:]).choices:
            if choice.delta.content:
                said.append(choice.delta.content)
                pieces.append((at, choice.delta.content))
            calls.extend(choice.delta.tool_calls)
        return False

    return take
