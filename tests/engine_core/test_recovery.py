"""Answers that are cut off, empty or only announce something, and the budget each of them has (R1 to R5)."""

import re
from typing import Any

import pytest

from aster.engine_core.recovery import (
    ANSWER_NOW,
    CONTINUE,
    NOTHING_RAN,
    READ_CHARS,
    SAY_SOMETHING,
    announces,
)
from aster.testing import Failure, ModelServer, Reply, Rule, Text, Thinking, ToolCall
from aster.testing.directive import numbered_words
from tests.engine_core.frames import events, last, transitions
from tests.live import Live, live

LOOK = ToolCall("glob", {"pattern": "*"})


def cut(text: str) -> Reply:
    return Reply([Text(text)], stop_reason="max_tokens")


def said(model: ModelServer, call: int) -> list[Any]:
    """The conversation a model was sent, without the times of its messages."""
    contents = [m["content"] for m in model.calls[call].body["messages"] if m["role"] != "system"]
    return [re.sub(r"^<time>.*?</time>\s*", "", text) if isinstance(text, str) else text for text in contents]


async def test_a_cut_answer_is_asked_for_again_with_more_room(aster: Live, model: ModelServer) -> None:
    model.enqueue(cut("half an ans"), Reply([Text("a whole answer")]))
    frames = await aster.execute("go")
    first, second = (call.body for call in model.calls)
    assert second["max_tokens"] > first["max_tokens"]
    assert {**second, "max_tokens": 0} == {**first, "max_tokens": 0}
    begun = next(frame for frame in frames if frame.event == "content_block_start")
    recovery = events(frames, "recovery")[0]
    assert (recovery["reason"], recovery["discarded_from_seq"]) == ("max_tokens", begun.id)
    transition = events(frames, "turn_transition")[0]
    assert (transition["reason"], transition.get("attempt", 1), transition["limit"]) == (
        "max_tokens_recovery",
        1,
        4,
    )
    assert last(frames)["stop_reason"] == "end_turn"
    model.enqueue(Reply([Text("ok")]))
    await aster.execute("and?")
    assert said(model, 2) == ["go", "a whole answer", "and?"]


async def test_then_it_goes_on_three_times_and_stops(aster: Live, model: ModelServer) -> None:
    model.enqueue(*(cut(f"part {number} ") for number in range(6)))
    frames = await aster.execute("go")
    assert len(model.calls) == 5
    assert (last(frames)["phase"], last(frames)["stop_reason"]) == ("completed", "max_tokens")
    assert [(data["reason"], data.get("attempt", 1)) for data in events(frames, "turn_transition")] == [
        ("max_tokens_recovery", number) for number in range(1, 5)
    ]
    assert said(model, 4) == ["go", "part 1 ", CONTINUE, "part 2 ", CONTINUE, "part 3 ", CONTINUE]
    assert len({call.body["max_tokens"] for call in model.calls[1:]}) == 1
    assert len(events(frames, "recovery")) == 1


async def test_what_has_been_read_is_not_taken_back(aster: Live, model: ModelServer) -> None:
    long = numbered_words(1, READ_CHARS // 8)
    model.enqueue(cut(long), Reply([Text("end")]))
    frames = await aster.execute("go")
    assert events(frames, "recovery") == []
    assert said(model, 1) == ["go", long, CONTINUE]
    assert model.calls[1].body["max_tokens"] == model.calls[0].body["max_tokens"]


async def test_a_model_without_more_room_goes_on_at_once(model: ModelServer) -> None:
    model.enqueue(*(cut(f"part {number} ") for number in range(5)))
    async with live(model, max_tokens=16_384) as engine:
        frames = await engine.execute("go")
    assert len(model.calls) == 4
    assert [data["limit"] for data in events(frames, "turn_transition")] == [3, 3, 3]
    assert events(frames, "recovery") == []


async def test_thinking_that_fills_the_room_is_followed_by_an_answer(model: ModelServer) -> None:
    thought = Reply([Thinking("hm " * 9)], stop_reason="max_tokens")
    model.enqueue(thought, thought, Reply([Text("42")]))
    async with live(model) as engine:
        frames = await engine.execute("go")
    assert ANSWER_NOW in str(said(model, 2)[-1])
    assert last(frames)["stop_reason"] == "end_turn"


async def test_an_endpoint_that_refuses_more_room_is_asked_with_the_usual(model: ModelServer) -> None:
    model.enqueue(cut("half"), Failure(400, message="max_tokens is too large"), Reply([Text("whole")]))
    async with live(model, llm_model="somebody-s-model") as engine:
        frames = await engine.execute("go")
    caps = [call.body["max_tokens"] for call in model.calls]
    assert caps[0] == caps[2] < caps[1]
    assert last(frames)["phase"] == "completed"
    model.enqueue(cut("half"), Failure(400), Failure(400))
    async with live(model, llm_model="somebody-s-model") as engine:
        assert last(await engine.execute("go"))["phase"] == "errored"


async def test_the_counters_begin_anew_after_tools(aster: Live, model: ModelServer) -> None:
    model.enqueue(cut("a"), Reply([LOOK]), cut("b"), Reply([Text("end")]))
    frames = await aster.execute("go")
    assert [data.get("attempt", 1) for data in events(frames, "turn_transition")] == [1, 1, 1]
    assert model.calls[2].body["max_tokens"] == model.calls[0].body["max_tokens"]


async def test_each_category_has_its_own_budget(model: ModelServer) -> None:
    """Failures of the connection do not use up what a cut or an empty answer may take, nor the other way round."""
    model.enqueue(
        Failure(500, retry_after=0.01),
        cut("a"),
        Failure(500, retry_after=0.01),
        cut("b"),
        Failure(500, retry_after=0.01),
        Reply([]),
        Failure(500, retry_after=0.01),
        Reply([Text("done")]),
    )
    async with live(model) as engine:
        frames = await engine.execute("go")
    assert [(data["reason"], data.get("attempt", 1)) for data in events(frames, "turn_transition")] == [
        ("transport_retry", 1),
        ("max_tokens_recovery", 1),
        ("transport_retry", 1),
        ("max_tokens_recovery", 2),
        ("transport_retry", 1),
        ("empty_answer", 1),
        ("transport_retry", 1),
    ]
    assert last(frames)["stop_reason"] == "end_turn"


async def test_a_slow_beginning_is_no_stall(model: ModelServer) -> None:
    model.enqueue(Reply([Text("late but whole")], first_byte_delay=0.4))
    async with live(model, llm_idle_timeout=0.1, llm_first_byte_timeout=10) as engine:
        frames = await engine.execute("go")
    assert (transitions(frames), last(frames)["phase"]) == ([], "completed")


async def test_the_wait_grows_and_is_jittered(model: ModelServer) -> None:
    model.enqueue(Failure(500), Failure(500), Reply([Text("ok")]))
    async with live(model) as engine:
        frames = await engine.execute("go")
    first, second = (data["delay_ms"] for data in events(frames, "turn_transition"))
    assert 500 <= first <= 625
    assert 1000 <= second <= 1250


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_fatal_error_is_not_retried(model: ModelServer, status: int) -> None:
    model.script([Rule(Failure(status))])
    async with live(model) as engine:
        frames = await engine.execute("go")
    assert (len(model.calls), transitions(frames), last(frames)["phase"]) == (1, [], "errored")


@pytest.mark.parametrize("empty", [Reply([]), Reply([Thinking("hm")]), Reply([Text("  \n")])], ids=str)
async def test_an_empty_answer_is_asked_for_once_more(model: ModelServer, empty: Reply) -> None:
    model.enqueue(empty, Reply([Text("here")]))
    async with live(model) as engine:
        frames = await engine.execute("go")
    assert transitions(frames) == ["empty_answer"]
    assert SAY_SOMETHING in str(said(model, 1)[-1])
    assert last(frames)["stop_reason"] == "end_turn"


async def test_a_second_empty_answer_ends_honestly(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([LOOK]), Reply([]), Reply([]), Reply([Text("still here")]))
    frames = await aster.execute("one")
    assert (last(frames)["phase"], last(frames)["stop_reason"]) == ("completed", "empty_answer")
    assert len(model.calls) == 3
    assert events(await aster.execute("two"), "text_delta")[0]["text"] == "still here"


async def test_an_empty_answer_that_says_it_calls_tools_stops(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([], stop_reason="tool_use"))
    assert last(await aster.execute("go"))["phase"] == "completed"
    assert len(model.calls) == 1


async def test_an_announced_action_without_a_call_gets_one_alert(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("I'll execute that now.")]), Reply([LOOK]), Reply([Text("I'll run it now.")]))
    frames = await aster.execute("go")
    assert transitions(frames) == ["missing_call", "tool_result_continuation"]
    assert said(model, 1) == ["go", "I'll execute that now.", NOTHING_RAN]
    assert (last(frames)["stop_reason"], len(model.calls)) == ("end_turn", 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'll execute that now", True),
        ("Sure! Let me search that for you.", True),
        ("Good question.\n\nOkay, let me check the file now.", True),
        ("I’m going to run the tests:", True),
        ("I will go ahead and install it…", True),
        ("The execute button is blue.", False),
        ("You can execute it with `make`.", False),
        ("I'll execute it if you want.", False),
        ("Let me know when to run it.", False),
        ("Shall I run it now? I'll run it once you say so.", False),
        ("I'll write in French from now on.", False),
        ("I'll run the tests now. They passed.", False),
        ("I will run a marathon next year.", False),
        ("I'll run it now. " * 40, False),
        ("", False),
    ],
)
def test_what_counts_as_an_announcement(text: str, expected: bool) -> None:
    assert announces(text) is expected
