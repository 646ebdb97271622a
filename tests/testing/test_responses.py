"""The Responses protocol, judged by OpenAI's own client."""

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response

from aster.testing import (
    Cut,
    Failure,
    Hold,
    ModelServer,
    Part,
    Ping,
    RedactedThinking,
    Reply,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

ASK: dict[str, Any] = {"model": "m", "input": "hi", "store": False}
TOOL: Any = {"type": "function", "name": "bash", "parameters": {"type": "object"}, "strict": False}


async def whole(gpt: AsyncOpenAI) -> Response:
    return await gpt.responses.create(**ASK)


async def streamed(gpt: AsyncOpenAI) -> Any:
    async with gpt.responses.stream(**ASK) as stream:
        return await stream.get_final_response()


async def events(gpt: AsyncOpenAI, **fields: Any) -> list[Any]:
    stream = await gpt.responses.create(**{**ASK, **fields}, stream=True)
    return [event async for event in stream]


BOTH = pytest.mark.parametrize("call", [whole, streamed])


@BOTH
async def test_everything_an_answer_can_hold(server: ModelServer, gpt: AsyncOpenAI, call: Any) -> None:
    parts: list[Part] = [
        Thinking("first things first", signature="c2ln"),
        RedactedThinking("c2VjcmV0"),
        Text('Let me look: "ä€😀"\n'),
        ToolCall("bash", {"command": "ls -la"}, id="call_1"),
        ToolCall("read_file", {"path": "ü.txt"}),
    ]
    server.enqueue(Reply(parts, usage=Usage(input=11, output=22, cache_read=33, cache_write=44)))
    response = await call(gpt)
    assert response.id.startswith("resp_")
    assert (response.model, response.status) == ("m", "completed")
    thought, redacted, said, bash, read = response.output
    assert (thought.type, thought.summary[0].text) == ("reasoning", "first things first")
    assert (thought.encrypted_content, redacted.encrypted_content) == ("c2ln", "c2VjcmV0")
    assert redacted.summary == []
    assert said.content[0].text == response.output_text == 'Let me look: "ä€😀"\n'
    assert (bash.call_id, bash.name, bash.arguments) == ("call_1", "bash", '{"command":"ls -la"}')
    assert read.call_id.startswith("call_")
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (88, 22, 110)
    assert usage.input_tokens_details.cached_tokens == 33
    assert usage.input_tokens_details.cache_write_tokens == 44
    assert usage.output_tokens_details.reasoning_tokens == 4


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("end_turn", None),
        ("stop_sequence", None),
        ("max_tokens", "max_output_tokens"),
        ("refusal", "content_filter"),
    ],
)
async def test_stop_reasons(server: ModelServer, gpt: AsyncOpenAI, reason: StopReason, why: str | None) -> None:
    server.enqueue(*[Reply([Text("half of a")], stop_reason=reason)] * 2)
    for response in (await whole(gpt), (await events(gpt))[-1].response):
        assert response.status == ("incomplete" if why else "completed")
        assert (response.incomplete_details.reason if response.incomplete_details else None) == why
        assert response.output_text == "half of a"


async def test_the_events_come_in_the_documented_order(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Thinking("hm"), Text("one "), Hold(), Text("two"), ToolCall("a", {})], chunk="all"))
    server.release()
    seen = await events(gpt)
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert [event.type.removeprefix("response.") for event in seen] == [
        *("created", "in_progress", "output_item.added", "reasoning_summary_part.added"),
        *("reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done"),
        *("output_item.done", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done", "output_item.added"),
        *("function_call_arguments.delta", "function_call_arguments.delta", "function_call_arguments.done"),
        *("output_item.done", "completed"),
    ]


async def test_broken_arguments_arrive_in_several_deltas(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([ToolCall("bash", raw_arguments='{"command": "ls')]))
    seen = [e.delta for e in await events(gpt) if e.type == "response.function_call_arguments.delta"]
    assert len(seen) >= 3
    assert "".join(seen) == '{"command": "ls'


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded"])
async def test_an_error_inside_the_stream_ends_it(server: ModelServer, gpt: AsyncOpenAI, kind: Any) -> None:
    server.enqueue(Reply([Text("so far "), StreamError(kind, "gone"), Text("so good")]))
    *_, said, last = await events(gpt)
    assert said.delta == "far "
    if kind == "rate_limit":
        assert last.type == "response.failed"
        assert (last.response.error.code, last.response.error.message) == ("rate_limit_exceeded", "gone")
    else:
        assert (last.type, last.code, last.message) == ("error", "server_is_overloaded", "gone")


async def test_faults_within_a_call(server: ModelServer, raw: Any) -> None:
    gone = StreamError("server_error", "gone")
    server.enqueue(
        Reply([ToolCall("t", {"path": "a-long-enough-path"}, midway=[gone]), Text("never")]),
        Reply([Ping(), Ping("still here"), ToolCall("t", {"path": "a-long-enough-path"}, midway=[Cut()])]),
    )
    ask = {**ASK, "stream": True}
    broken, cut = await raw.call("/v1/responses", ask), await raw.call("/v1/responses", ask)
    assert b"gone" in broken.body.split(b"data: ")[-1]
    assert b"never" not in broken.body
    assert b": ping\n\n: still here\n\n" in cut.body
    assert not cut.complete


async def test_failures_are_openais(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Failure(kind="context_overflow"))
    with pytest.raises(openai.BadRequestError) as caught:
        await whole(gpt)
    assert caught.value.code == "context_length_exceeded"


async def refused(gpt: AsyncOpenAI, *items: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(openai.BadRequestError) as caught:
        await gpt.responses.create(**{**ASK, "input": [*items], **fields})
    return caught.value.message


async def test_histories_are_refused_as_the_provider_does(server: ModelServer, gpt: AsyncOpenAI) -> None:
    user: Any = {"role": "user", "content": "hi"}
    called: Any = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
    returned: Any = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    thought: Any = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    assert "No tool output found for function call c1" in await refused(gpt, user, called)
    assert "No tool call found" in await refused(gpt, user, returned)
    assert "required following item" in await refused(gpt, user, thought, user)
    assert "required following item" in await refused(gpt, user, thought)
    unstored: Any = {**thought, "encrypted_content": None}
    assert "Items are not persisted" in await refused(gpt, user, unstored, called, returned)
    server.enqueue(*[Reply([Text("ok")])] * 2)
    await gpt.responses.create(**{**ASK, "input": [user, thought, called, returned]})
    await gpt.responses.create(model="m", store=True, input=[user, unstored, called, returned])


async def test_a_conversation_is_read(server: ModelServer, gpt: AsyncOpenAI) -> None:
    server.enqueue(Reply([Text("ok")]))
    history: list[Any] = [
        {"role": "developer", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "list"}, {"type": "input_text", "text": "all"}],
        },
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a.txt"}]},
    ]
    await gpt.responses.create(model="m", instructions="help", input=history, tools=[TOOL])
    (call,) = server.calls
    assert (call.protocol, call.text, call.round) == ("responses", "list\nall", 1)
    assert call.conversation.system == "help\nbe brief"
    assert [(result.tool, result.text) for result in call.conversation.results] == [("bash", "a.txt")]
    assert [offer.name for offer in call.conversation.tools] == ["bash"]


async def test_the_directive_and_the_persona(server: ModelServer, gpt: AsyncOpenAI) -> None:
    ask: dict[str, Any] = {"model": "m", "tools": [TOOL]}
    said: Any = {"role": "user", "content": '[[text=2 thinking=1 tools=1 parallel=2 input={"x":"$round $call"}]]'}
    first = await gpt.responses.create(**ask, input=[said])
    calls: list[Any] = [item for item in first.output if item.type == "function_call"]
    assert [call.arguments for call in calls] == ['{"x":"1 1"}', '{"x":"1 2"}']
    results: list[Any] = [
        {"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls
    ]
    done = await gpt.responses.create(**ask, input=[said, *[call.to_dict() for call in calls], *results])
    assert done.output_text == "w000001 w000002 "
    server.rate = None
    persona = await gpt.responses.create(model="m", input="think")
    assert [item.type for item in persona.output] == ["reasoning", "message"]
    assert server.calls[-1].answered_by == "demo"
