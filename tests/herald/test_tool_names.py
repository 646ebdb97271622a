"""Names with dots go out in a form every provider takes and come back as they are, in every protocol."""

import msgspec
import pytest

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.llm import BlockFinished, BlockStarted
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.tool_names import dotless
from aster.testing import ModelServer, Reply, ToolCall
from tests.herald.asking import CLOCK, asking, assistant, user

DOTTED = msgspec.structs.replace(CLOCK, name="git.log")
CALLED = assistant(ToolUseBlock(id="c1", name="git.log", input={}))
ANSWERED = user(ToolResultBlock(tool_use_id="c1", content=(TextBlock(text="x"),)))


def test_without_dots_nothing_is_touched() -> None:
    request = asking("Hi", assistant("Hm."), tools=(CLOCK,))
    assert dotless(request) == (request, {})
    assert dotless(request)[0] is request


async def test_there_and_back(server: ModelServer) -> None:
    herald = Herald(Endpoint.openai_compatible(server.url, "m", "sk-key"))
    server.enqueue(Reply(parts=[ToolCall("git__log", id="c2")]))
    named: list[str | None] = []
    async with herald.stream(asking("Hi", CALLED, ANSWERED, tools=(CLOCK, DOTTED))) as call:
        async for batch in call:
            for event in batch:
                if isinstance(event, BlockStarted):
                    named.append(event.tool_name)
                elif isinstance(event, BlockFinished) and isinstance(event.block, ToolUseBlock):
                    named.append(event.block.name)
    await herald.close()
    assert named == ["git.log", "git.log"]
    body = server.calls[0].body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["clock", "git__log"]
    assert "git.log" not in msgspec.json.encode(body).decode()


@pytest.mark.parametrize("tools", [(), (CLOCK,)])
async def test_a_tool_that_is_gone_is_still_in_the_history(server: ModelServer, tools: tuple[()]) -> None:
    herald = Herald(Endpoint.openai_compatible(server.url, "m", "sk-key"))
    server.enqueue(Reply(parts=[]))
    await herald.complete(asking("Hi", CALLED, ANSWERED, tools=tools))
    await herald.close()
    assert "git.log" not in msgspec.json.encode(server.calls[0].body).decode()
