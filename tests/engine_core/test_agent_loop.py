"""The loop through HTTP: when it goes round again, when it stops, and what is on the thread afterwards."""

from typing import Any

import pytest

from aster.testing import Cut, Failure, ModelServer, Reply, StreamError, Text, Thinking, ToolCall
from tests.engine_core.frames import blocks, events, last, transitions
from tests.live import Live, live, text_of

LOOK = ToolCall("glob", {"pattern": "*"})


async def test_the_smallest_turn(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("Hello there, friend.")]))
    frames = await aster.execute("hi")
    assert frames[0].data["phase"] == "started"
    assert last(frames)["phase"] == "completed"
    assert last(frames)["stop_reason"] == "end_turn"
    assert [frame.id for frame in frames] == list(range(1, len(frames) + 1))
    assert text_of(frames) == "Hello there, friend." == blocks(frames)[0]["text"]
    assert len(events(frames, "usage")) == 1
    assert len(model.calls) == 1


async def test_thinking_is_streamed_and_carried_back(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking("let me see"), LOOK]), Reply([Text("done")]))
    frames = await aster.execute("hi")
    thought = "".join(data["text"] for data in events(frames, "thinking_delta"))
    assert thought == "let me see" == blocks(frames, "thinking")[0]["text"]


async def test_history_goes_back_to_the_model(aster: Live, model: ModelServer) -> None:
    for number in range(3):
        model.enqueue(Reply([Text(f"answer {number}")]))
        await aster.execute(f"question {number}")
    said = [message["content"] for message in model.calls[-1].body["messages"] if message["role"] != "system"]
    assert said == ["question 0", "answer 0", "question 1", "answer 1", "question 2"]


async def test_the_beginning_of_the_prompt_does_not_move(aster: Live, model: ModelServer) -> None:
    for number in range(2):
        model.enqueue(Reply([Text("ok")]))
        await aster.execute(f"question {number}")
    first, second = (call.body for call in model.calls)
    assert second["tools"] == first["tools"]
    assert second["messages"][: len(first["messages"])] == first["messages"]


async def test_tools_run_and_their_results_return(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        Reply([Text("writing"), ToolCall("write_file", {"path": "a.txt", "content": "alpha"}, id="one")]),
        Reply([ToolCall("read_file", {"path": "a.txt"}, id="two"), ToolCall("nonsense", {}, id="three")]),
        Reply([Text("It says alpha.")]),
    )
    frames = await aster.execute("go")
    results = {data["tool_call_id"]: data for data in events(frames, "tool_result")}
    assert results["two"]["output"] == "alpha"
    assert results["three"]["error"] == "unknown_tool"
    assert "error" not in results["one"]
    assert transitions(frames) == ["tool_result_continuation"] * 2
    tail = model.calls[-1].body["messages"][-3:-1]
    assert [message["tool_call_id"] for message in tail] == ["two", "three"]
    intents = [frame.id for frame in frames if frame.event == "tool_call"]
    outcomes = [frame.id for frame in frames if frame.event == "tool_result"]
    assert intents[0] < outcomes[0]  # type: ignore[operator]


async def test_results_keep_call_order_when_the_first_is_slower(aster: Live, model: ModelServer) -> None:
    slow = ToolCall("bash", {"command": "sleep 0.3; echo slow >&2; cat /dev/null"}, id="slow")
    quick = ToolCall("bash", {"command": "echo quick"}, id="quick")
    model.enqueue(Reply([ToolCall("bash", {"command": "ls"}, id="first"), quick, slow]), Reply([Text("ok")]))
    await aster.execute("go")
    tail = [m["tool_call_id"] for m in model.calls[-1].body["messages"] if m["role"] == "tool"]
    assert tail == ["first", "quick", "slow"]


async def test_a_call_with_broken_arguments_is_answered(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("glob", raw_arguments='{"pattern": ')]), Reply([Text("sorry")]))
    frames = await aster.execute("go")
    assert events(frames, "tool_result")[0]["error"] == "invalid_input"
    assert last(frames)["phase"] == "completed"


async def test_wrong_input_is_explained_to_the_model(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("glob", {"pattern": 7})]), Reply([Text("sorry")]))
    frames = await aster.execute("go")
    result = events(frames, "tool_result")[0]
    assert result["error"] == "invalid_input"
    assert "pattern" in result["output"]


async def test_max_turns_is_an_end_not_an_error(model: ModelServer) -> None:
    async with live(model, sandbox="auto", max_turns=3) as engine:
        frames = await engine.execute('[[text=5 tools=9 tool=glob input={"pattern":"*"}]]')
        assert last(frames)["phase"] == "completed"
        assert last(frames)["stop_reason"] == "max_turns"
        assert len(model.calls) == 3
        assert len(events(frames, "tool_result")) == 3


async def test_a_stop_reason_without_calls_stops(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("nothing to call")], stop_reason="tool_use"))
    assert last(await aster.execute("go"))["phase"] == "completed"
    assert len(model.calls) == 1


async def test_calls_run_whatever_the_stop_reason_says(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([LOOK], stop_reason="end_turn"), Reply([Text("ok")]))
    frames = await aster.execute("go")
    assert len(events(frames, "tool_result")) == 1
    assert len(model.calls) == 2


async def test_pause_turn_goes_on(model: ModelServer) -> None:
    model.enqueue(Reply([Text("wait ")], stop_reason="pause_turn"), Reply([Text("done")]))
    async with live(None, llm_provider="anthropic", llm_base_url=model.url) as engine:
        frames = await engine.execute("go")
    assert transitions(frames) == ["pause_turn"]
    assert text_of(frames) == "wait done"


async def test_token_budget_goes_on_by_itself(model: ModelServer) -> None:
    model.enqueue(Reply([Text("half an ")], stop_reason="max_tokens"), Reply([Text("answer")]))
    async with live(model, token_budget_enabled=True) as engine:
        frames = await engine.execute("go")
    assert transitions(frames) == ["budget_continuation"]
    assert text_of(frames) == "half an answer"
    assert events(frames, "user_message")[-1]["origin"] == "engine"


async def test_token_budget_stops_when_little_comes(model: ModelServer) -> None:
    for _ in range(6):
        model.enqueue(Reply([Text("a bit ")], stop_reason="max_tokens"))
    async with live(model, token_budget_enabled=True) as engine:
        frames = await engine.execute("go")
    assert last(frames)["stop_reason"] == "max_tokens"
    assert transitions(frames) == ["budget_continuation"] * 2


async def test_a_tool_call_cut_off_at_max_tokens_is_asked_again(aster: Live, model: ModelServer) -> None:
    cut = ToolCall("write_file", raw_arguments='{"path": "a.txt", "content": "half')
    model.enqueue(
        Reply([Text("Writing: "), cut], stop_reason="max_tokens"),
        Reply([ToolCall("write_file", {"path": "a.txt", "content": "whole"})]),
        Reply([Text("Written.")]),
    )
    frames = await aster.execute("go")
    assert transitions(frames) == ["max_tokens_recovery", "tool_result_continuation"]
    recovery = events(frames, "recovery")[0]
    first_delta = next(frame for frame in frames if frame.event == "content_block_start")
    assert recovery["discarded_from_seq"] == first_delta.id
    assert len(events(frames, "tool_result")) == 1
    first, second = model.calls[0].body, model.calls[1].body
    assert second["messages"] == first["messages"]
    assert second["max_tokens"] > first["max_tokens"]


@pytest.mark.parametrize(
    "fault",
    [
        Failure(500),
        Failure(429, retry_after=0.05),
        Failure(529),
        Reply([Text("half an answer that breaks"), Cut()]),
        Reply([Text("half an answer, then an error"), StreamError("overloaded")]),
    ],
    ids=["500", "429", "529", "cut", "stream-error"],
)
async def test_a_passing_failure_is_tried_again(aster: Live, model: ModelServer, fault: Any) -> None:
    model.enqueue(fault, Reply([Text("whole")]))
    frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    assert transitions(frames) == ["transport_retry"]
    assert blocks(frames)[-1]["text"] == "whole"
    if isinstance(fault, Reply):
        assert len(events(frames, "recovery")) == 1
    assert [m["role"] for m in model.calls[-1].body["messages"] if m["role"] != "system"] == ["user"]


@pytest.mark.parametrize(
    ("fault", "code", "calls"),
    [
        (Failure(401), "LLM_PROVIDER_ERROR", 1),
        (Failure(400), "LLM_PROVIDER_ERROR", 1),
        (Failure(kind="context_overflow"), "CONTEXT_OVERFLOW", 1),
    ],
    ids=["401", "400", "overflow"],
)
async def test_a_lasting_failure_ends_the_turn(
    aster: Live, model: ModelServer, fault: Failure, code: str, calls: int
) -> None:
    model.enqueue(fault)
    frames = await aster.execute("go")
    assert last(frames)["phase"] == "errored"
    error = events(frames, "error")[0]
    assert error["error"] == code
    assert frames[-2].event == "error"
    assert len(model.calls) == calls
    model.enqueue(Reply([Text("fine again")]))
    assert text_of(await aster.execute("again")) == "fine again"


async def test_a_model_that_never_answers_is_a_timeout(model: ModelServer) -> None:
    async with live(model, llm_first_byte_timeout=0.1) as engine:
        for _ in range(4):
            model.enqueue(Reply([Text("late")], first_byte_delay=5))
        frames = await engine.execute("go")
    assert events(frames, "error")[0]["error"] == "LLM_TIMEOUT"
    assert transitions(frames) == ["transport_retry"] * 3


async def test_a_turn_leaves_a_trajectory(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([LOOK]), Reply([Text("done")]))
    turn_id = (await aster.execute("go"))[0].data["turn_id"]
    record = (await aster.http.get(f"/tasks/t1/turns/{turn_id}/trajectory")).json()
    assert record["status"] == "completed"
    assert (record["model_calls"], record["tool_calls"]) == (2, 1)
    assert record["messages"][0]["content"][0]["text"] == "go"


async def test_super_thinking_asks_for_thought(model: ModelServer) -> None:
    model.enqueue(Reply([Text("ok")]), Reply([Text("ok")]))
    async with live(None, llm_provider="anthropic", llm_base_url=model.url) as engine:
        await engine.execute("go", super_thinking=True)
        await engine.execute("go")
    assert "thinking" in model.calls[0].body
    assert model.calls[1].body.get("thinking", {}).get("type") in (None, "disabled")
