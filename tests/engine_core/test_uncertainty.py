"""What the agent does not know, through HTTP: asked before it acts, told after it has answered, in both cases settled
by events."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.turn import Doubt
from aster.engine_core.uncertainty import risks
from aster.testing import ModelServer, Reply, Text, Thinking, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of

WRITE = ToolCall("write_file", {"path": "a.txt", "content": "x"}, id="write")
LOOK = ToolCall("glob", {"pattern": "*"}, id="look")
DONE = Reply([Text("done")])


def flag(
    text: str = "Which database is meant?", *, kind: str = "unknown", id_: str = "flag", **more: Any
) -> ToolCall:
    return ToolCall("flag_uncertainty", {"kind": kind, "text": text, "impact": 5, **more}, id=id_)


async def answer(engine: Live, text: str, **more: Any) -> None:
    answered = await engine.http.post("/hitl/respond", json={"task_id": "t1", "answer": text, **more})
    assert answered.status_code == 200, answered.text


def results(frames: Any) -> list[tuple[str, str | None]]:
    return [(data["tool_call_id"], data.get("error")) for data in events(frames, "tool_result")]


async def test_a_weighty_unknown_is_asked_before_anything_is_changed(aster: Live, model: ModelServer) -> None:
    again = ToolCall("write_file", {"path": "b.txt", "content": "y"}, id="again")
    model.enqueue(Reply([flag()]), Reply([LOOK]), Reply([WRITE]), Reply([again]), DONE)
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        assert (request["kind"], request["reason"], request["tool"]) == ("question", "uncertainty", "write_file")
        assert "Before I proceed" in request["question"]
        assert "Which database is meant?" in request["question"]
        await answer(aster, "The one of the shop.", feedback="And be quick.")
        frames = await stream.rest()
    assert results(frames) == [("flag", None), ("look", None), ("write", "held"), ("again", None)]
    assert [data["tool_call_id"] for data in events(frames, "tool_call")] == ["flag", "look", "again"]
    noted, settled = events(frames, "uncertainty")
    assert settled["item_id"] == noted["item_id"]
    assert (settled["resolved"], settled["text"]) == (True, noted["text"])
    assert settled["note"] == "The one of the shop.\n\nAnd be quick."
    told = next(message for message in model.calls[3].body["messages"] if message.get("tool_call_id") == "write")
    assert "They answered: The one of the shop." in told["content"]
    assert "<untrusted" not in told["content"]
    assert len(events(frames, "hitl_request")) == 1
    assert events(frames, "risk_summary") == []
    assert len(model.calls) == 5


async def test_calls_beside_the_one_that_was_held_wait_for_the_model(aster: Live, model: ModelServer) -> None:
    other = ToolCall("write_file", {"path": "b.txt", "content": "y"}, id="other")
    model.enqueue(Reply([flag(), WRITE, LOOK, other]), DONE)
    async with aster.executing("go") as stream:
        await stream.until("hitl_request")
        await answer(aster, "That one.")
        frames = await stream.rest()
    assert results(frames) == [("flag", None), ("write", "held"), ("look", None), ("other", "held")]
    assert len(events(frames, "hitl_request")) == 1


async def test_several_are_asked_at_once_the_weightiest_first(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([flag("Small?", impact=4), flag("Large?", id_="flag2")]), Reply([WRITE]), DONE)
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        assert request["question"].splitlines()[1:] == ["- Large?", "- Small?"]
        assert len(request["about"]) == 2
        await answer(aster, "Yes and no.")
        frames = await stream.rest()
    assert sum(data.get("resolved", False) for data in events(frames, "uncertainty")) == 2


@pytest.mark.parametrize(
    "said",
    [
        flag(impact=3),
        flag(resolution="find_out"),
        flag(kind="assumption"),
        ToolCall("flag_uncertainty", {"kind": "unknown", "text": "Which?"}, id="flag"),
    ],
    ids=["light", "can-find-out", "assumption", "usual"],
)
async def test_nothing_else_holds_a_call_back(aster: Live, model: ModelServer, said: ToolCall) -> None:
    model.enqueue(Reply([said]), Reply([WRITE]), DONE)
    frames = await aster.execute("go")
    assert results(frames) == [("flag", None), ("write", None)]


async def test_what_the_agent_has_settled_itself_is_not_asked(aster: Live, model: ModelServer) -> None:
    def settle(call: Any) -> Reply:
        noted = next(message for message in call.body["messages"] if message.get("tool_call_id") == "flag")
        item = noted["content"].removeprefix("Noted as ").removesuffix(".")
        given = {"kind": "unknown", "text": "It says so in the file.", "resolves": item}
        return Reply([ToolCall("flag_uncertainty", given, id="settle")])

    def script(call: Any) -> Reply:
        return [lambda _: Reply([flag()]), settle, lambda _: Reply([WRITE]), lambda _: DONE][call.round](call)

    model.script([script])
    frames = await aster.execute("go")
    assert results(frames) == [("flag", None), ("settle", None), ("write", None)]
    noted, settled = events(frames, "uncertainty")
    assert (settled["item_id"], settled["resolved"], settled["impact"]) == (noted["item_id"], True, 5)
    assert (settled["text"], settled["note"]) == ("Which database is meant?", "It says so in the file.")


@pytest.mark.parametrize(("mode", "asks"), [("note", False), ("off", False), ("ask", True)])
async def test_the_operator_decides_whether_to_ask(model: ModelServer, mode: str, asks: bool) -> None:
    model.enqueue(Reply([flag()]), Reply([WRITE]), DONE)
    async with live(model, uncertainty=mode) as engine, engine.executing("go") as stream:
        if asks:
            await stream.until("hitl_request")
            return
        frames = await stream.rest()
    assert results(frames) == [("flag", None), ("write", None)]
    assert len(events(frames, "risk_summary")) == (mode == "note")


async def test_bypass_never_asks(model: ModelServer) -> None:
    model.enqueue(Reply([flag()]), Reply([WRITE]), DONE)
    async with live(model, permission_bypass_allowed=True) as engine:
        frames = await engine.execute("go", permission_mode="bypass")
    assert results(frames) == [("flag", None), ("write", None)]


async def test_what_is_denied_anyway_is_not_asked_about(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([flag()]), Reply([WRITE]), DONE)
    frames = await aster.execute("go", permission_mode="plan")
    assert results(frames) == [("flag", None), ("write", "permission_denied")]


@pytest.mark.parametrize("policy", ["deny", "park"])
async def test_with_nobody_there_a_call_is_refused_or_waits(model: ModelServer, policy: str) -> None:
    sorry = Reply([Text("I could not write the file: nobody was there to be asked which database is meant.")])
    model.enqueue(Reply([flag()]), Reply([WRITE]), sorry)
    async with live(model, unattended_policy=policy) as engine:
        if policy == "park":
            async with engine.executing("go", unattended=True) as stream:
                await stream.until("thread_lifecycle", phase="suspended")
            return
        frames = await engine.execute("go", unattended=True)
    assert results(frames) == [("flag", None), ("write", "unattended")]
    assert "Which database" in events(frames, "tool_result")[1]["output"]
    assert len(events(frames, "risk_summary")) == 1


async def test_a_question_and_its_answer_survive_restarts(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(Reply([flag(), WRITE]), Reply([ToolCall("write_file", WRITE.input, id="again")]), DONE)
    async with live(model, sqlite_db_path=brain) as engine, engine.executing("go") as stream:
        suspended = await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, sqlite_db_path=brain) as engine:
        (waiting,) = (await engine.http.get("/hitl/pending")).json()["pending"]
        assert waiting["reason"] == "uncertainty"
        await answer(engine, "The small one.")
        frames = await engine.replay(task_id="t1", after_seq=suspended.id)
        listed = (await engine.http.get("/tasks/t1/uncertainties")).json()["uncertainties"]
    assert results(frames) == [("write", "held"), ("again", None)]
    assert [(item["resolved"], item["note"]) for item in listed] == [(True, "The small one.")]
    assert last(frames)["phase"] == "completed"


async def test_what_is_left_is_summed_up_beside_the_answer(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        Reply(
            [
                flag("Which region?", id_="f1"),
                flag("How many users?", impact=3, id_="f2"),
                flag("The key is valid.", kind="assumption", impact=4, confidence=0.4, id_="f3"),
                flag("The sun rises.", kind="assumption", impact=4, confidence=0.9, id_="f4"),
            ]
        ),
        DONE,
        DONE,
    )
    frames = await aster.execute("go")
    (summary,) = events(frames, "risk_summary")
    assert summary["text"] == (
        "**Things I'm not certain about:**\n- Which region? (impact: 5/5)\n\n"
        "**Assumptions I made:**\n- The key is valid. (confidence: 40%)"
    )
    assert len(summary["item_ids"]) == 2
    assert text_of(frames) == "done"
    assert [frame.event for frame in frames][-2:] == ["risk_summary", "thread_lifecycle"]
    await aster.execute("next")
    assert "not certain about" not in str(model.calls[-1].body)


async def test_nothing_of_weight_is_no_summary(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([flag(impact=3)]), Reply([Text("I'm not sure whether it works. That is all.")]))
    frames = await aster.execute("go")
    assert events(frames, "risk_summary") == []
    assert risks({}) == ("", ())


async def test_the_summary_is_short() -> None:
    many = {f"u{n}": Doubt(item="unknown", text=f"Which {n}?", impact=4) for n in range(9)}
    text, ids = risks(many)
    assert (text.count("Which"), ids) == (3, ("u0", "u1", "u2"))


async def test_hedges_of_the_answer_are_noted(aster: Live, model: ModelServer) -> None:
    said = "Done. I could not verify the last figure. ```\nI'm not sure whether it is.\n``` I assumed it is Monday."
    model.enqueue(Reply([Text(said)]))
    unknown, assumed = events(await aster.execute("go"), "uncertainty")
    assert (unknown["item"], unknown["text"]) == ("unknown", "I could not verify the last figure.")
    assert (unknown["impact"], unknown["source"], unknown["resolution"]) == (3, "hedge", "find_out")
    assert (assumed["item"], assumed["confidence"]) == ("assumption", 0.5)
    assert len(model.calls) == 1


async def test_what_was_thought_and_not_said_is_told_when_something_was_changed(model: ModelServer) -> None:
    thought = "I'm assuming that the production machine is meant. I'm not sure whether the old file matters."
    answers = [Reply([Thinking(thought), WRITE]), Reply([Text("The file is written.")])]
    model.enqueue(*answers)
    async with live(model, llm_provider="anthropic", llm_base_url=model.url, llm_api_key="k") as engine:
        frames = await engine.execute("go")
    (noted,) = events(frames, "uncertainty")
    assert (noted["item"], noted["impact"]) == ("assumption", 4)
    (summary,) = events(frames, "risk_summary")
    assert "production machine" in summary["text"]


async def test_what_was_thought_and_said_is_noted_once(model: ModelServer) -> None:
    thought = "I'm assuming that the production machine is meant."
    model.enqueue(
        Reply([Thinking(thought), WRITE]), Reply([Text("I assumed that the production machine is meant.")])
    )
    async with live(model, llm_provider="anthropic", llm_base_url=model.url, llm_api_key="k") as engine:
        frames = await engine.execute("go")
    (noted,) = events(frames, "uncertainty")
    assert noted["impact"] == 3


async def test_nothing_is_looked_for_when_it_is_off(model: ModelServer) -> None:
    model.enqueue(Reply([Text("I could not verify the last figure.")]))
    async with live(model, uncertainty="off") as engine:
        assert events(await engine.execute("go"), "uncertainty") == []
