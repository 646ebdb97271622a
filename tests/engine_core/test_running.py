"""The same look twice in one step, through HTTP: run once, answered twice; what may have changed is looked at again."""

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, Seen

CLOCK = {"command": "date +%s%N"}
WRITE = ToolCall("write_file", {"path": "a.txt", "content": "x"})


def shown(frames: list[Seen]) -> list[str]:
    return [data["output"] for data in events(frames, "tool_result")]


async def test_identical_looks_of_one_step_are_run_once_and_each_gets_its_result(
    aster: Live, model: ModelServer
) -> None:
    calls = [ToolCall("bash", CLOCK), ToolCall("bash", {"command": "echo other"}), ToolCall("bash", CLOCK)]
    model.enqueue(Reply(calls), Reply([Text("done")]))
    frames = await aster.execute("go")
    by_call = {data["tool_call_id"]: data["output"] for data in events(frames, "tool_result")}
    issued = [data["tool_call_id"] for data in events(frames, "tool_call")]
    assert len(by_call) == len(issued) == 3
    first, other, twin = (by_call[call_id] for call_id in issued)
    assert first == twin != other
    results = [message for message in model.calls[-1].body["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == issued


async def test_what_may_have_changed_meanwhile_is_looked_at_again(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("bash", CLOCK), WRITE, ToolCall("bash", CLOCK)]), Reply([Text("done")]))
    first, _, second = shown(await aster.execute("go"))
    assert first != second


async def test_another_step_looks_again(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("bash", CLOCK)]), Reply([ToolCall("bash", CLOCK)]), Reply([Text("done")]))
    first, second = shown(await aster.execute("go"))
    assert first != second


async def test_changes_are_made_as_often_as_they_are_asked_for(aster: Live, model: ModelServer) -> None:
    add = ToolCall("bash", {"command": "echo line >> log.txt"})
    model.enqueue(Reply([add, add, ToolCall("read_file", {"path": "log.txt"})]), Reply([Text("done")]))
    assert shown(await aster.execute("go"))[-1].count("line") == 2


async def test_a_shared_failure_is_a_failure_of_each(aster: Live, model: ModelServer) -> None:
    missing = ToolCall("read_file", {"path": "missing.txt"})
    model.enqueue(Reply([missing, missing]), Reply([Text("done")]))
    frames = await aster.execute("go")
    assert [data["error"] for data in events(frames, "tool_result")] == ["not_found", "not_found"]
    assert len(events(frames, "tool_error")) == 2


async def test_a_large_result_is_kept_once_and_named_to_each(aster: Live, model: ModelServer) -> None:
    many = ToolCall("bash", {"command": "seq 1 60000"})
    model.enqueue(Reply([many, many]), Reply([Text("done")]))
    frames = await aster.execute("go")
    (one,), (two,) = (data["artifacts"] for data in events(frames, "tool_result"))
    assert one["id"] == two["id"]
    assert (await aster.http.get(f"/tasks/t1/artifacts/{one['id']}")).status_code == 200
