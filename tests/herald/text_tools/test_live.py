"""Text tools through the whole engine: the loop knows no difference."""

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import blocks, events, last
from tests.live import live, text_of

WRITE = """\
<tool_call>
<function name="write_file">
<parameter name="path">a.txt</parameter>
<parameter name="content">
if a < b: print("&lt;\\n")
</parameter>
</function>
</tool_call>"""
READ = "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize("fragment", [None, 1, 7])
async def test_a_model_without_tools_uses_tools(server: ModelServer, fragment: int | None) -> None:
    async with live(server, llm_text_tools="true") as aster:
        server.enqueue(
            Reply([Text(f"Writing.\n{WRITE}")], chunk=2, fragment=fragment),
            Reply([Text(f"Reading.\n{READ}\n[glob(pattern='*')]")], chunk=3, fragment=fragment),
            Reply([Text("It is there.")]),
        )
        frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    results = {data["tool"]: data for data in events(frames, "tool_result")}
    assert results["read_file"]["output"] == 'if a < b: print("&lt;\\n")'
    assert set(results) == {"write_file", "read_file", "glob"}
    assert all("error" not in data for data in results.values())
    assert text_of(frames).split() == ["Writing.", "Reading.", "It", "is", "there."]
    assert "tool_call>" not in "".join(frame.raw.decode() for frame in frames)
    first, second, third = (call.body for call in server.calls)
    assert all("tools" not in body for body in (first, second, third))
    system = first["messages"][0]["content"]
    assert second["messages"][0]["content"] == system == third["messages"][0]["content"]
    assert "read_file" in system
    assert third["messages"][: len(second["messages"])] == second["messages"]
    roles = [message["role"] for message in third["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert third["messages"][2]["content"].startswith("Writing.\n\n<tool_call>")
    assert '<tool_response name="read_file">' in third["messages"][5]["content"][0]["text"]


async def test_an_unreadable_call_is_answered_and_forgotten(server: ModelServer) -> None:
    async with live(server, llm_text_tools="true") as aster:
        server.enqueue(
            Reply([Text('Let me. <tool_call>{"name": "glob", "arguments": {oops}}</tool_call>')], chunk=4),
            Reply([Text("<tool_call>oops again</tool_call>")]),
            Reply([Text("Never mind.")]),
        )
        frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    first, second = events(frames, "tool_result")
    assert (first["tool"], first["error"]) == ("glob", "invalid_input")
    assert "Write it exactly like this" in first["output"]
    assert "2. call in a row" in second["output"]
    assert "oops" not in text_of(frames)
    sent = str(server.calls[-1].body["messages"][1:])
    assert "oops" not in sent
    assert "was removed here" in sent


async def test_a_call_cut_at_the_limit_is_asked_for_again(server: ModelServer) -> None:
    async with live(server, llm_text_tools="true") as aster:
        server.enqueue(
            Reply([Text(WRITE[:100])], stop_reason="max_tokens"),
            Reply([Text(WRITE)]),
            Reply([Text("Done.")]),
        )
        frames = await aster.execute("go")
    assert [data["reason"] for data in events(frames, "recovery")] == ["max_tokens"]
    assert [data["tool"] for data in events(frames, "tool_result")] == ["write_file"]
    assert last(frames)["phase"] == "completed"


async def test_a_leaked_call_of_a_model_with_tools_is_run(server: ModelServer) -> None:
    async with live(server) as aster:
        server.enqueue(
            Reply([Text("Looking."), Text(READ.replace("read_file", "glob").replace("path", "pattern"))], chunk=5),
            Reply([Text("Empty.")]),
        )
        frames = await aster.execute("go")
    assert "tools" in server.calls[0].body
    assert [block["name"] for block in blocks(frames, "tool_use")] == ["glob"]
    assert [data["tool"] for data in events(frames, "tool_result")] == ["glob"]
    assert text_of(frames) == "Looking.Empty."


async def test_native_calls_are_what_they_were(server: ModelServer) -> None:
    async with live(server, llm_text_tools="false") as aster:
        server.enqueue(Reply([ToolCall("glob", {"pattern": "*"}, id="x")]), Reply([Text("Empty.")]))
        frames = await aster.execute("go")
    assert [block["id"] for block in blocks(frames, "tool_use")] == ["x"]
