"""A user's own agents are known to the model, and the beginning of its prompts does not move when they change."""

from typing import Any

from aster.testing import ModelServer, RecordedCall, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live, text_of

POET = {"description": "Answers in verse.", "system_prompt": "You are a poet."}


def beginning(call: RecordedCall, messages: int) -> list[Any]:
    """The tools and the first messages of a prompt."""
    return [call.body["tools"], *call.body["messages"][:messages]]


def heard(call: RecordedCall) -> list[str]:
    return [str(message) for message in call.body["messages"] if "the person has these agents" in str(message)]


async def put(aster: Live, name: str, **changes: Any) -> None:
    assert (await aster.http.put(f"/agents/{name}", json={**POET, **changes})).status_code == 200


async def test_own_agents_are_told_once_and_the_prefix_stays(aster: Live, model: ModelServer) -> None:
    model.script([Rule(Reply([Text("ok")]))])
    await put(aster, "poet")
    await aster.execute("one")
    await aster.execute("two")
    first, second = model.calls[-2:]
    [note] = heard(first)
    assert heard(second) == [note]
    assert "- poet: Answers in verse." in note
    await put(aster, "plumber", description="Knows pipes.")
    await aster.execute("three")
    await aster.execute("four")
    third, fourth = model.calls[-2:]
    assert len(heard(third)) == len(heard(fourth)) == 2
    assert "- plumber: Knows pipes." in heard(third)[1]
    size = len(second.body["messages"])
    assert beginning(second, size) == beginning(third, size) == beginning(fourth, size)


async def test_one_that_is_told_of_can_be_handed_work(aster: Live, model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("so it is")]), tool="spawn_agent"),
            Rule(
                Reply([ToolCall("spawn_agent", {"prompt": "work", "agent": "poet"}, id="s")]), match="^go", round=0
            ),
            Rule(Reply([Text("a verse")]), match="^work"),
        ]
    )
    await put(aster, "poet")
    frames = await aster.execute("go")
    assert text_of(frames) == "so it is"
    assert events(frames, "subagent_lifecycle")[0]["agent"] == "poet"


async def test_who_cannot_hand_work_on_is_told_nothing(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("ok")]))])
    async with live(model, subagent_depth=0) as engine:
        await put(engine, "poet")
        await engine.execute("one")
        assert heard(model.calls[-1]) == []
    async with live(model) as engine:
        await put(engine, "alone", disallowed_tools=["spawn_agent"])
        await engine.execute("one", agent="alone")
        assert heard(model.calls[-1]) == []
        await engine.execute("one", "t2")
        assert len(heard(model.calls[-1])) == 1
