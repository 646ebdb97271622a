"""A small model's reply comes out as the same events as anybody's, and a wait as notices before them."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.errors import ErrorCode
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
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.local import notices
from aster.herald.protocols import PROTOCOLS
from aster.herald.protocols.base import Decoder
from aster.herald.protocols.local_chat import MOST_TOKENS
from tests.herald.asking import CLOCK, WEATHER, asking

LOCAL = PROTOCOLS["local_chat"]
TOOLS = (WEATHER, CLOCK)


def body(request: ModelRequest) -> dict[str, Any]:
    return json.loads(LOCAL.encode(request, Endpoint.local()).body)


def play(request: ModelRequest, *pieces: str, stop: str = "stop") -> list[StreamEvent]:
    decoder = LOCAL.decoder(request)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += feed(decoder, delta={"content": piece})
    events += feed(decoder, delta={}, finish_reason=stop)
    events += decoder.feed("message", b"[DONE]")
    assert decoder.finished
    return events


def feed(decoder: Decoder, **choice: Any) -> list[StreamEvent]:
    return decoder.feed("message", json.dumps({"model": "tiny", "choices": [{"index": 0, **choice}]}).encode())


def test_the_wire_holds_no_tools_but_a_schema() -> None:
    sent = body(asking("hi", tools=TOOLS, max_tokens=100_000, thinking_budget=5000))
    assert "tools" not in sent
    assert len(sent["response_format"]["json_schema"]["schema"]["anyOf"]) == 3
    assert "weather(city): The weather somewhere." in sent["messages"][0]["content"]
    assert (sent["max_tokens"], sent["temperature"]) == (MOST_TOKENS, 0.2)


def test_without_tools_it_just_talks() -> None:
    sent = body(asking("hi", system="Be brief.", temperature=0.7))
    assert "response_format" not in sent
    assert [message["content"] for message in sent["messages"]] == ["Be brief.", "hi"]
    assert sent["temperature"] == 0.7
    events = play(asking("hi"), '{"answer":', ' "x"}')
    assert [event.text for event in events if isinstance(event, TextPart)] == ['{"answer":', ' "x"}']


def test_a_schema_of_the_callers_own_is_kept() -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    request = asking("hi", tools=TOOLS, output_schema=schema)
    assert "ok" in body(request)["response_format"]["json_schema"]["schema"]["properties"]
    finished = play(request, '{"ok":true}')[-2]
    assert finished == BlockFinished(index=0, block=TextBlock(text='{"ok":true}'))


def test_an_answer_streams() -> None:
    events = play(asking("hi", tools=TOOLS), '{"about":"talk","ans', 'wer":"Good', " day", '."}')
    assert events[:4] == [
        BlockStarted(index=0, block_type="text"),
        TextPart(index=0, text="Good"),
        TextPart(index=0, text=" day"),
        TextPart(index=0, text="."),
    ]
    assert events[4] == BlockFinished(index=0, block=TextBlock(text="Good day."))
    assert isinstance(events[5], CallFinished)
    assert (events[5].stop_reason, events[5].model) == (StopReason.END_TURN, "tiny")


def test_a_call_is_a_call() -> None:
    events = play(asking("hi", tools=TOOLS), '{"about":"work","tool":"weather",', '"input":{"city":"Bern"}}')
    started, finished, end = events
    assert isinstance(started, BlockStarted)
    assert (started.block_type, started.tool_name) == ("tool_use", "weather")
    assert isinstance(finished, BlockFinished)
    assert isinstance(finished.block, ToolUseBlock)
    assert finished.block.id == started.tool_call_id
    assert (finished.block.name, finished.block.input) == ("weather", {"city": "Bern"})
    assert isinstance(end, CallFinished)
    assert end.stop_reason is StopReason.TOOL_USE


def test_a_call_that_was_cut_off_is_invalid() -> None:
    events = play(asking("hi", tools=TOOLS), '{"tool":"weather","input":{"ci', stop="length")
    block = next(event.block for event in events if isinstance(event, BlockFinished))
    assert isinstance(block, ToolUseBlock)
    assert block.invalid
    assert isinstance(events[-1], CallFinished)
    assert events[-1].stop_reason is StopReason.MAX_TOKENS


def test_a_wait_is_told_and_an_end_of_hope_too() -> None:
    decoder = LOCAL.decoder(asking("hi", tools=TOOLS))
    notice = CallWaiting(stage="downloading", text="Downloading …", done_bytes=1, total_bytes=9)
    assert decoder.feed(notices.WAITING, notices.waiting(notice).split(b"data: ")[1].strip()) == [notice]
    gone = notices.unavailable(notices.Unavailable(text="No network; set LLM_API_KEY.", retry_after=15.0))
    with pytest.raises(HeraldError, match="LLM_API_KEY") as caught:
        decoder.feed(notices.UNAVAILABLE, gone.split(b"data: ")[1].strip())
    assert caught.value.kind is FailureKind.UNAVAILABLE
    assert caught.value.code is ErrorCode.LLM_PROVIDER_ERROR
    assert not caught.value.retryable
    assert (caught.value.retry, caught.value.retry_after) == ("after", 15.0)
    assert not caught.value.endpoint_fault
