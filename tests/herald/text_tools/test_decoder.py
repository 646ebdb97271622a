"""The events of a reply with text calls: the same as those of a model with native tools."""

from typing import Any

import pytest

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import (
    BlockFinished,
    BlockStarted,
    CallFinished,
    LLMResponse,
    ModelRequest,
    StopReason,
    StreamEvent,
    TextPart,
    ThinkingPart,
)
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.text_tools.decoder import TextToolDecoder
from aster.herald.text_tools.toolbox import Toolbox
from aster.testing import ModelServer, Reply, Text, Thinking, ToolCall
from tests.herald.asking import asking, assistant, user
from tests.herald.text_tools.offering import TOOLS

CALL = "<tool_call><function=get_weather><parameter=city>Bern</parameter></function></tool_call>"


def _herald(server: ModelServer, text_tools: Any = "true") -> Herald:
    return Herald(Endpoint.openai_compatible(server.url, "m"), text_tools=text_tools)


async def _events(herald: Herald, request: ModelRequest) -> list[StreamEvent]:
    async with herald.stream(request) as call:
        return [event async for batch in call for event in batch]


async def _answer(server: ModelServer, reply: Reply, text_tools: str = "true", **fields: Any) -> LLMResponse:
    server.enqueue(reply)
    herald = _herald(server, text_tools)
    try:
        return await herald.complete(asking("hi", tools=TOOLS, **fields))
    finally:
        await herald.close()


async def test_a_text_call_is_a_call(server: ModelServer) -> None:
    server.enqueue(Reply([Text(f"Looking. {CALL} Done.")], chunk=3))
    herald = _herald(server)
    events = await _events(herald, asking("hi", tools=TOOLS))
    await herald.close()
    assert "tools" not in server.calls[0].body
    assert "get_weather" in server.calls[0].body["messages"][0]["content"]
    started = [event for event in events if isinstance(event, BlockStarted)]
    finished = [event for event in events if isinstance(event, BlockFinished)]
    assert [(event.index, event.block_type) for event in started] == [(0, "text"), (1, "tool_use"), (2, "text")]
    assert [event.index for event in finished] == [0, 1, 2]
    call = finished[1].block
    assert isinstance(call, ToolUseBlock)
    assert (call.name, call.input, call.invalid) == ("get_weather", {"city": "Bern"}, None)
    assert (started[1].tool_name, started[1].tool_call_id) == (call.name, call.id)
    shown = [event for event in events if isinstance(event, TextPart)]
    assert "".join(event.text for event in shown if event.index == 0) == "Looking. "
    assert finished[0].block == TextBlock(text="Looking. ")
    assert not any("<" in event.text for event in shown)
    assert isinstance(events[-1], CallFinished)
    assert events[-1].stop_reason is StopReason.TOOL_USE


@pytest.mark.parametrize("fragment", [1, 2, 3, 5, 7, 11, 13, 64])
async def test_however_the_bytes_are_cut(server: ModelServer, fragment: int) -> None:
    reply = Reply([Text(f"é {CALL}\n{CALL} 😀")], chunk=1, fragment=fragment)
    blocks = (await _answer(server, reply)).blocks
    kinds = [type(block).__name__ for block in blocks]
    assert kinds == ["TextBlock", "ToolUseBlock", "ToolUseBlock", "TextBlock"]
    assert len({block.id for block in blocks if isinstance(block, ToolUseBlock)}) == 2


async def test_thought_in_the_text_is_thought(server: ModelServer) -> None:
    server.enqueue(Reply([Text(f"<think>hm {CALL}</think>Hello.")], chunk=2))
    herald = _herald(server)
    events = await _events(herald, asking("hi", tools=TOOLS, model="m"))
    await herald.close()
    blocks = [event.block for event in events if isinstance(event, BlockFinished)]
    assert blocks == [ThinkingBlock(text=f"hm {CALL}", model="m"), TextBlock(text="Hello.")]
    assert "".join(event.text for event in events if isinstance(event, ThinkingPart)) == f"hm {CALL}"
    assert isinstance(events[-1], CallFinished)
    assert events[-1].stop_reason is StopReason.END_TURN


async def test_an_unreadable_call_carries_its_hint(server: ModelServer) -> None:
    broken = await _answer(server, Reply([Text("<tool_call>{{{</tool_call>")]))
    (block,) = broken.blocks
    assert isinstance(block, ToolUseBlock)
    assert (block.name, block.input, block.invalid) == ("tool_call", {}, "<tool_call>{{{</tool_call>")
    assert block.hint is not None
    assert "Write it exactly like this" in block.hint
    assert broken.stop_reason is StopReason.TOOL_USE
    server.enqueue(Reply([Text("<tool_call>{{{</tool_call>")]))
    herald = _herald(server)
    again = await herald.complete(asking(user("hi"), assistant(block), user("x"), tools=TOOLS))
    await herald.close()
    (second,) = again.blocks
    assert isinstance(second, ToolUseBlock)
    assert "2. call in a row" in str(second.hint)


async def test_a_call_cut_at_the_limit_is_invalid_and_stays_cut(server: ModelServer) -> None:
    answer = await _answer(server, Reply([Text(CALL[:60])], stop_reason="max_tokens"))
    assert answer.stop_reason is StopReason.MAX_TOKENS
    assert [
        (block.name, block.input) for block in answer.blocks if isinstance(block, ToolUseBlock) and block.invalid
    ] == [("get_weather", {})]


async def test_an_unknown_tool_is_left_to_the_runtime(server: ModelServer) -> None:
    answer = await _answer(server, Reply([Text('<tool_call>{"name": "ghost", "arguments": {"a": 1}}</tool_call>')]))
    (block,) = answer.blocks
    assert isinstance(block, ToolUseBlock)
    assert (block.name, block.input, block.invalid) == ("ghost", {"a": 1}, None)


async def test_without_tools_nothing_is_read(server: ModelServer) -> None:
    server.enqueue(Reply([Text(CALL)]))
    herald = _herald(server)
    answer = await herald.complete(asking("hi"))
    await herald.close()
    assert answer.blocks == (TextBlock(text=CALL),)


class TestNative:
    """Tools were offered natively: text is a call only in framing that cannot be mistaken."""

    async def test_tools_go_out_natively(self, server: ModelServer) -> None:
        for setting in ("auto", "false"):
            answer = await _answer(server, Reply([Text("a [b] {c} `d`"), ToolCall("now", id="x")]), setting)
            assert answer.blocks == (TextBlock(text="a [b] {c} `d`"), ToolUseBlock(id="x", name="now", input={}))
            assert len(server.calls[-1].body["tools"]) == len(TOOLS)

    async def test_an_endpoint_without_tools_gets_them_as_text(self, server: ModelServer) -> None:
        server.enqueue(Reply([Text(CALL)]), Reply([Text("ok")]))
        endpoint = Endpoint(
            name="x", base_url=f"{server.url}/v1", protocol="openai_chat", model="m", native_tools=False
        )
        for setting, native in (("auto", False), ("false", True)):
            herald = Herald(endpoint, text_tools="auto" if setting == "auto" else "false")
            await herald.complete(asking("hi", tools=TOOLS))
            await herald.close()
            assert ("tools" in server.calls[-1].body) is native

    async def test_a_call_that_leaked_into_the_text_is_run(self, server: ModelServer) -> None:
        answer = await _answer(server, Reply([Text(f"Looking. {CALL}")], chunk=2), "auto")
        said, call = answer.blocks
        assert said == TextBlock(text="Looking. ")
        assert isinstance(call, ToolUseBlock)
        assert (call.name, call.input) == ("get_weather", {"city": "Bern"})
        assert answer.stop_reason is StopReason.TOOL_USE

    async def test_beside_a_native_call_it_is_only_hidden(self, server: ModelServer) -> None:
        answer = await _answer(server, Reply([Text(f"Looking. {CALL}"), ToolCall("now", id="x")]), "auto")
        assert answer.blocks == (TextBlock(text="Looking. "), ToolUseBlock(id="x", name="now", input={}))

    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "now", "arguments": {}}',
            '```json\n{"name": "now", "arguments": {}}\n```',
            "[now()]",
            "<tool_call>is a tag</tool_call>",
            "<function=ghost></function>",
        ],
    )
    async def test_what_may_be_an_answer_stays_one(self, server: ModelServer, text: str) -> None:
        answer = await _answer(server, Reply([Text(text)], chunk=4), "auto")
        assert answer.blocks == (TextBlock(text=text),)
        assert answer.stop_reason is StopReason.END_TURN

    async def test_framing_that_leaked_into_an_argument_is_cut_off(self, server: ModelServer) -> None:
        leak = "x\n</parameter>\n</function>\n<function=now></function>"
        answer = await _answer(server, Reply([ToolCall("write_file", {"content": leak}, id="x")]), "auto")
        first, second = answer.blocks
        assert first == ToolUseBlock(id="x", name="write_file", input={"content": "x"})
        assert isinstance(second, ToolUseBlock)
        assert (second.name, second.id != "x") == ("now", True)

    async def test_thinking_and_parallel_calls_keep_their_places(self, server: ModelServer) -> None:
        parts = [Thinking("hm"), Text("a"), ToolCall("now", id="x"), ToolCall("now", id="y")]
        server.enqueue(Reply(parts))
        herald = _herald(server, "auto")
        events = await _events(herald, asking("hi", tools=TOOLS))
        await herald.close()
        started = {event.index: event.block_type for event in events if isinstance(event, BlockStarted)}
        assert started == {0: "thinking", 1: "text", 2: "tool_use", 3: "tool_use"}
        assert [event.index for event in events if isinstance(event, BlockFinished)] == [0, 1, 2, 3]


def test_pieces_that_come_together_are_read_as_one() -> None:
    decoder = TextToolDecoder(asking("hi", tools=TOOLS), Toolbox(TOOLS), native=True)
    thought = [ThinkingPart(index=0, text="So"), ThinkingPart(index=0, text=".")]
    first = decoder.read([BlockStarted(index=0, block_type="thinking"), *thought])
    assert first == [BlockStarted(index=0, block_type="thinking"), *thought]
    said = [TextPart(index=1, text=text) for text in ("a ", "b <to", "ol_call", "> c")]
    whole = BlockFinished(index=1, block=TextBlock(text="a b <tool_call> c"))
    together = decoder.read([BlockStarted(index=1, block_type="text"), *said[:2]])
    assert together == [BlockStarted(index=1, block_type="text"), TextPart(index=1, text="a b ")]
    assert decoder.read([said[2]]) == []
    assert [type(event) for event in decoder.read([said[3], whole])][-1] is BlockFinished
