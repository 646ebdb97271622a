"""The official Python SDK as a client of the doors: everything it parses, it parses without complaint."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from aster.infra.ids import new_id
from aster.testing import ModelServer
from tests.clients.obliging import TALK, obliging
from tests.live import Live, live

KEY = "client-key"
MAGIC: Any = {
    "type": "function",
    "function": {
        "name": "magic",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
}
DOT = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
).decode()


class Joke(BaseModel):
    setup: str
    punchline: str
    stars: int


@pytest.fixture
async def aster() -> AsyncIterator[Live]:
    async with ModelServer([obliging]) as model, live(model, engine_api_key=KEY, memory_enabled=False) as engine:
        yield engine


@pytest.fixture
async def client(aster: Live) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{aster.url}/v1", api_key=KEY, max_retries=0) as found:
        yield found


async def test_models(client: AsyncOpenAI) -> None:
    assert "aster" in [model.id async for model in client.models.list()]
    assert (await client.models.retrieve("aster")).owned_by == "aster"


async def test_chat_whole_and_streamed(client: AsyncOpenAI, aster: Live) -> None:
    messages: list[Any] = [{"role": "system", "content": "Be nice."}, {"role": "user", "content": new_id("hi")}]
    whole = await client.chat.completions.create(model="aster", messages=messages)
    assert whole.choices[0].message.content == TALK
    assert whole.usage is not None
    messages += [whole.choices[0].message.to_dict(), {"role": "user", "content": "more"}]
    said, usage = "", None
    async for chunk in await client.chat.completions.create(
        model="aster", messages=messages, stream=True, stream_options={"include_usage": True}
    ):
        said += "".join(choice.delta.content or "" for choice in chunk.choices)
        usage = chunk.usage or usage
    assert said == TALK
    assert usage is not None
    assert len((await aster.http.get("/tasks")).json()["tasks"]) == 1


async def test_tools_in_parallel(client: AsyncOpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "Use magic on 3, then magic on 4."}]
    async with client.chat.completions.stream(model="aster", messages=messages, tools=[MAGIC]) as stream:
        final = await stream.get_final_completion()
    calls = final.choices[0].message.tool_calls or []
    assert [call.function.arguments for call in calls] == ['{"number":3}', '{"number":4}']
    messages.append(final.choices[0].message.to_dict())
    messages += [{"role": "tool", "tool_call_id": call.id, "content": f"got {call.id}"} for call in calls]
    done = await client.chat.completions.create(model="aster", messages=messages, tools=[MAGIC])
    assert calls[-1].id in (done.choices[0].message.content or "")


async def test_pictures_and_schemas(client: AsyncOpenAI) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}
    content: Any = [{"type": "text", "text": "a joke with 5 stars"}, picture]
    found = await client.chat.completions.parse(
        model="aster", messages=[{"role": "user", "content": content}], response_format=Joke
    )
    assert found.choices[0].message.parsed is not None
    assert found.choices[0].message.parsed.stars == 5


async def test_errors_are_of_the_kinds_programs_catch(client: AsyncOpenAI, aster: Live) -> None:
    hello: list[Any] = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.NotFoundError) as missing:
        await client.chat.completions.create(model="nobody", messages=hello)
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError):
        await client.chat.completions.create(model="aster", messages=hello, n=3)
    async with AsyncOpenAI(base_url=f"{aster.url}/v1", api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError):
            await stranger.chat.completions.create(model="aster", messages=hello)


async def test_responses(client: AsyncOpenAI) -> None:
    one = await client.responses.create(model="aster", input=new_id("hi"), instructions="Be nice.")
    assert (one.output_text, one.status) == (TALK, "completed")
    async with client.responses.stream(model="aster", input="more", previous_response_id=one.id) as stream:
        kinds = [event.type async for event in stream]
        two = await stream.get_final_response()
    assert (two.output_text, two.previous_response_id) == (TALK, one.id)
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert (await client.responses.retrieve(two.id)).output_text == TALK
    parsed = await client.responses.parse(model="aster", input="a joke with 4 stars", text_format=Joke)
    assert parsed.output_parsed is not None
    assert parsed.output_parsed.stars == 4
    await client.responses.delete(one.id)
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(one.id)


async def test_responses_with_tools_and_in_the_background(client: AsyncOpenAI) -> None:
    tool: Any = {"type": "function", "strict": False, **MAGIC["function"]}
    one = await client.responses.create(model="aster", input="Use magic on 7.", tools=[tool])
    call = next(item for item in one.output if item.type == "function_call")
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "seven"}
    two = await client.responses.create(model="aster", input=[output], previous_response_id=one.id, tools=[tool])
    assert "seven" in two.output_text
    later = await client.responses.create(model="aster", input=new_id("later"), background=True)
    assert later.status in ("queued", "in_progress", "completed")
    async for event in await client.responses.retrieve(later.id, stream=True):
        if event.type == "response.completed":
            assert event.response.output_text == TALK
    assert (await client.responses.cancel(later.id)).status == "completed"
