"""Which answer a call gets."""

from typing import Any

import pytest

from aster.testing import Failure, ModelServer, RecordedCall, Reply, Rule, Text, ToolCall

BASH = {"name": "bash", "input_schema": {"type": "object"}}


def history(text: str, *tools: str) -> list[dict[str, Any]]:
    """A conversation in which the user spoke and then these tools returned."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    for number, tool in enumerate(tools):
        use = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"r{number}"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return messages


async def said(raw: Any, messages: list[dict[str, Any]] | str, **fields: Any) -> str:
    body = {**raw.ask("", stream=False), **fields}
    body["messages"] = history(messages) if isinstance(messages, str) else messages
    answer = (await raw.call("/v1/messages", body)).json
    return answer["content"][0]["text"] if answer["type"] == "message" else answer["error"]["message"]


def say(text: str) -> Reply:
    return Reply([Text(text)])


async def test_the_queue_comes_first_and_in_order(server: ModelServer, raw: Any) -> None:
    server.script([Rule(say("rule"))])
    server.enqueue(say("one"), say("two"))
    assert server.queued == 2
    assert [await said(raw, "hi") for _ in range(3)] == ["one", "two", "rule"]
    assert [call.answered_by for call in server.calls] == ["queue", "queue", "rule 0"]


async def test_the_first_rule_that_fits_answers(server: ModelServer, raw: Any) -> None:
    server.script(
        [
            Rule(say("second round"), match="list", round=2),
            Rule(say("after read_file"), tool="read_file"),
            Rule(say("first round"), match="list", round=1),
            Rule(say("list"), match=r"\blist\b"),
            Rule(say("bash"), offers="bash"),
            Rule(say("small"), model="^small"),
            Rule(say("planner"), system="You plan"),
        ]
    )
    assert await said(raw, "please list it") == "list"
    assert await said(raw, history("list", "bash")) == "first round"
    assert await said(raw, history("list", "bash", "read_file")) == "second round"
    assert await said(raw, history("other", "bash", "read_file")) == "after read_file"
    assert await said(raw, "other", tools=[BASH]) == "bash"
    assert await said(raw, "other", model="small-1") == "small"
    assert await said(raw, "other", system=[{"type": "text", "text": "You plan things."}]) == "planner"


async def test_a_rule_applies_so_many_times(server: ModelServer, raw: Any) -> None:
    server.script([Rule(Failure(500, message="down"), times=2), Rule(say("up"))])
    assert [await said(raw, "hi") for _ in range(4)] == ["down", "down", "up", "up"]


async def test_chance_is_decided_by_the_seed(raw: Any, server: ModelServer) -> None:
    server.script([Rule(say("lucky"), chance=0.5), Rule(say("not"))])
    answers = [await said(raw, "hi") for _ in range(40)]
    assert 5 < answers.count("lucky") < 35


async def test_a_rule_may_be_code(server: ModelServer, raw: Any) -> None:
    def echo(call: RecordedCall) -> Reply | None:
        return say(call.text.upper()) if call.round == 0 else None

    async def results(call: RecordedCall) -> Reply:
        return say(", ".join(f"{result.tool}={result.text}" for result in call.conversation.results))

    server.script([echo, results])
    assert await said(raw, "hi") == "HI"
    assert await said(raw, history("hi", "a", "b")) == "a=r0, b=r1"


async def test_a_rule_that_fails_says_so(server: ModelServer, raw: Any, caplog: pytest.LogCaptureFixture) -> None:
    def broken(call: RecordedCall) -> Reply:
        raise KeyError("oops")

    server.script([broken])
    assert "A rule of the script failed: KeyError('oops')" in await said(raw, "hi")
    assert "a rule failed" in caplog.text


async def test_a_hole_in_the_script_is_an_error_nobody_retries(server: ModelServer, raw: Any) -> None:
    server.enqueue(say("only this"))
    assert await said(raw, "hi") == "only this"
    assert await said(raw, "and now?") == "The script has no answer to 'and now?' after 0 tool results."
    assert server.calls[-1].status == 400
    assert len(await said(raw, "x" * 5000)) < 300


async def test_a_directive_answers_when_no_rule_does(server: ModelServer, raw: Any) -> None:
    server.script([Rule(say("rule"), match="rule")])
    assert await said(raw, "rule [[text=2]]") == "rule"
    assert await said(raw, "other [[text=2]]") == "w000001 w000002 "


async def test_a_new_script_replaces_everything(server: ModelServer, raw: Any) -> None:
    server.enqueue(say("old"))
    server.script([Rule(say("new"), times=1)], [say("queued")])
    assert [await said(raw, "hi") for _ in range(2)] == ["queued", "new"]


async def test_calls_of_a_reply_do_not_count_as_results(server: ModelServer, raw: Any) -> None:
    server.script([Rule(Reply([ToolCall("bash")]), round=0), Rule(say("done"), round=1)])
    answer = (await raw.anthropic("go", stream=False)).json
    assert answer["stop_reason"] == "tool_use"
    assert await said(raw, history("go", "bash")) == "done"
