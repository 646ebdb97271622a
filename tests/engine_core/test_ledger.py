"""Going in circles, through HTTP: what is not run again, what is pointed out, and when a turn is ended."""

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last, transitions
from tests.live import Live, Seen

FAIL = ToolCall("bash", {"command": "cat missing.txt"})
LOOK = ToolCall("glob", {"pattern": "*"})


def results(frames: list[Seen]) -> list[str | None]:
    return [data.get("error") for data in events(frames, "tool_result")]


async def test_a_call_that_failed_twice_the_same_way_is_not_run_again(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([FAIL]), Reply([FAIL]), Reply([FAIL]), Reply([Text("I give up.")]))
    frames = await aster.execute("go")
    assert results(frames) == ["exit_status", "exit_status", "repeated_failure"]
    assert len(events(frames, "tool_call")) == 2
    told = events(frames, "tool_result")[-1]["output"]
    assert "No such file" in told
    assert "Not run" in told


async def test_another_error_or_another_input_is_another_call(aster: Live, model: ModelServer) -> None:
    calls = [
        FAIL,
        FAIL,
        ToolCall("bash", {"command": "cat other.txt"}),
        ToolCall("read_file", {"path": "missing.txt"}),
    ]
    model.enqueue(*(Reply([call]) for call in calls), Reply([Text("done")]))
    frames = await aster.execute("go")
    assert results(frames) == ["exit_status", "exit_status", "exit_status", "not_found"]


async def test_a_change_that_worked_clears_the_account(aster: Live, model: ModelServer) -> None:
    write = ToolCall("write_file", {"path": "missing.txt", "content": "here"})
    model.enqueue(Reply([FAIL]), Reply([FAIL]), Reply([write]), Reply([FAIL]), Reply([Text("done")]))
    frames = await aster.execute("go")
    assert results(frames) == ["exit_status", "exit_status", None, None]


async def test_a_failed_change_clears_nothing(aster: Live, model: ModelServer) -> None:
    kill = ToolCall("bash", {"command": "touch made.txt && false"})
    model.enqueue(Reply([FAIL]), Reply([FAIL]), Reply([kill]), Reply([FAIL]), Reply([Text("done")]))
    frames = await aster.execute("go")
    assert results(frames)[-1] == "repeated_failure"


async def test_the_same_look_again_and_again_is_pointed_out_and_then_ended(aster: Live, model: ModelServer) -> None:
    model.enqueue(*(Reply([LOOK]) for _ in range(13)), Reply([Text("never said")]))
    frames = await aster.execute("go")
    reasons = transitions(frames)
    assert [number for number, reason in enumerate(reasons, start=1) if reason == "loop_guard"] == [3, 12]
    assert last(frames)["stop_reason"] == "loop_guard"
    assert results(frames) == [None] * 12 + ["no_more_tools"]
    said = [message["content"] for message in model.calls[-1].body["messages"] if message["role"] == "user"]
    assert "same result" in str(said[-1])
    assert "No tool runs any more" in str(said[-1])


async def test_an_answer_after_the_warning_is_an_ordinary_end(aster: Live, model: ModelServer) -> None:
    model.enqueue(*(Reply([LOOK]) for _ in range(12)), Reply([Text("Nothing there.")]))
    frames = await aster.execute("go")
    assert last(frames)["stop_reason"] == "end_turn"
    assert transitions(frames)[-1] == "loop_guard"


async def test_a_look_that_shows_something_new_is_no_circle(aster: Live, model: ModelServer) -> None:
    now = ToolCall("bash", {"command": "date +%N"})
    model.enqueue(*(Reply([now]) for _ in range(5)), Reply([Text("done")]))
    assert "loop_guard" not in transitions(await aster.execute("go"))


async def test_writing_the_same_file_again_is_no_circle(aster: Live, model: ModelServer) -> None:
    write = ToolCall("write_file", {"path": "a.txt", "content": "same"})
    model.enqueue(*(Reply([write]) for _ in range(5)), Reply([Text("done")]))
    assert "loop_guard" not in transitions(await aster.execute("go"))


async def test_a_row_of_failures_is_brought_to_an_end(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        *(Reply([ToolCall("read_file", {"path": f"missing-{number}"})]) for number in range(14)),
        Reply([Text("done")]),
    )
    frames = await aster.execute("go")
    assert transitions(frames).count("loop_guard") == 2
    assert last(frames)["stop_reason"] == "loop_guard"
    assert len(events(frames, "tool_call")) == 12


async def test_mixed_results_are_summed_up_for_the_model(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([LOOK, ToolCall("read_file", {"path": "missing"})]), Reply([Text("done")]))
    await aster.execute("go")
    tail = model.calls[-1].body["messages"][-1]
    assert tail["role"] == "user"
    assert "1 of these 2 calls worked" in str(tail["content"])


@pytest.mark.parametrize("after", [0, 1])
async def test_the_next_turn_starts_with_a_clean_account(aster: Live, model: ModelServer, after: int) -> None:
    model.enqueue(Reply([FAIL]), Reply([FAIL]), Reply([Text("no")]))
    await aster.execute("go")
    model.enqueue(*([Reply([FAIL])] * (after + 1)), Reply([Text("no")]))
    assert set(results(await aster.execute("again"))) == {"exit_status"}
