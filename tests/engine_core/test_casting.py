"""Who answers a turn: by what it is about and how it was asked for, and the same one until its end."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.messages import Message
from aster.contracts.turn import TurnRequest, TurnState
from aster.engine_core.casting import model_of, role_of
from aster.infra.settings import Settings
from aster.testing import Failure, ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import blocks, events, last
from tests.live import Live, Seen, live

QUICK = 0.01
CODE = "write a python script"
LOOK = ToolCall("glob", {"pattern": "*"})
QUESTION = ToolCall("ask_user", {"question": "Which one?"})


def says(name: str) -> list[Rule]:
    return [Rule(Reply([Text(name)]))]


def models(frames: list[Seen]) -> list[str]:
    return [data["model"] for data in events(frames, "usage")]


async def answered(engine: Live, task_id: str = "t1") -> list[Seen]:
    """Answer what the task waits for; the rest of its turn."""
    head = (await engine.http.get(f"/tasks/{task_id}")).json()["head_seq"]
    await engine.http.post("/hitl/respond", json={"task_id": task_id, "answer": "the first"})
    return await engine.replay(task_id=task_id, after_seq=head)


async def test_what_is_about_code_is_answered_by_the_coding_pool(model: ModelServer) -> None:
    model.script(says("front"))
    async with (
        ModelServer([Rule(Reply([Text("coder")]), tool="glob"), Rule(Reply([LOOK]))]) as coder,
        live(model, llm_pool_coding=f"{coder.url}/v1|coder") as engine,
    ):
        frames = await engine.execute(CODE)
        assert (blocks(frames)[-1]["text"], models(frames)) == ("coder", ["coder", "coder"])
        assert events(frames, "usage")[0]["endpoint"] == f"127.0.0.1:{coder.port}/coder"
        assert models(await engine.execute("thank you")) == ["gpt-4o"]


async def test_a_coding_turn_stays_one_whatever_is_said_later(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    model.script(says("front"))
    async with ModelServer() as coder:
        settings: dict[str, Any] = {"sqlite_db_path": brain, "llm_pool_coding": f"{coder.url}/v1|coder"}
        coder.enqueue(Reply([QUESTION]), Reply([Text("coder")]))
        async with live(model, **settings) as engine, engine.executing(CODE) as stream:
            await stream.until("thread_lifecycle", phase="suspended")
        async with live(model, **settings) as engine:
            frames = await answered(engine)
    assert (last(frames)["phase"], models(frames), model.calls) == ("completed", ["coder"], [])


async def test_when_the_coding_pool_has_nobody_the_foreground_answers(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("front")]), tool="glob"), Rule(Reply([LOOK]))])
    async with (
        ModelServer([Rule(Failure(500, retry_after=QUICK))]) as coder,
        live(model, llm_pool_coding=f"{coder.url}/v1|coder") as engine,
    ):
        frames = await engine.execute(CODE)
        (fallback,) = events(frames, "provider_fallback")
        assert (fallback["from_model"], fallback["to_model"]) == ("coder", "gpt-4o")
        assert fallback["reason"] == "circuit_open"
        assert (last(frames)["phase"], models(frames)) == ("completed", ["gpt-4o", "gpt-4o"])
        assert {call.body["model"] for call in model.calls} == {"gpt-4o"}
        assert len(coder.calls) == 3


async def test_a_model_that_was_chosen_is_not_cast_again(model: ModelServer) -> None:
    model.script(says("front"))
    async with (
        ModelServer(says("coder")) as coder,
        live(model, llm_pool_coding=f"{coder.url}/v1|coder", llm_allowed_models="small") as engine,
    ):
        assert models(await engine.execute(CODE, model="small")) == ["small"]
        assert coder.calls == []


async def test_the_planner_answers_turns_that_plan(model: ModelServer) -> None:
    model.script(says("ok"))
    async with (
        ModelServer(says("coder")) as coder,
        live(model, planner_model="thinker", llm_pool_coding=f"{coder.url}/v1|coder") as engine,
    ):
        assert models(await engine.execute(CODE, permission_mode="plan")) == ["thinker"]
        assert models(await engine.execute("hi")) == ["gpt-4o"]


async def test_a_turn_keeps_its_model_after_a_restart(model: ModelServer, tmp_path: Path) -> None:
    async with ModelServer() as second:
        listed = f"{model.url}/v1|one,{second.url}/v1|two"
        settings: dict[str, Any] = {"sqlite_db_path": tmp_path / "brain.sqlite", "llm_pool_foreground": listed}
        async with live(None, **settings) as engine:
            model.enqueue(Reply([Text("first")]))
            assert models(await engine.execute("hi", "t0")) == ["one"]
            second.enqueue(Reply([QUESTION]))
            async with engine.executing("hi") as stream:
                await stream.until("thread_lifecycle", phase="suspended")
        async with live(None, **settings) as engine:
            second.enqueue(Reply([Text("still two")]))
            frames = await answered(engine)
            assert (last(frames)["phase"], models(frames)) == ("completed", ["two"])
    assert len(model.calls) == 1


async def test_a_turn_keeps_its_model_through_a_failure(model: ModelServer) -> None:
    async with ModelServer(says("two")) as second:
        listed = f"{model.url}/v1|one,{second.url}/v1|two"
        async with live(None, llm_pool_foreground=listed) as engine:
            model.enqueue(Reply([LOOK]), Failure(500, retry_after=QUICK), Reply([Text("still one")]))
            frames = await engine.execute("hi")
    assert (blocks(frames)[-1]["text"], models(frames)) == ("still one", ["one", "one"])
    assert (second.calls, events(frames, "provider_fallback")) == ([], [])


async def test_a_twin_goes_before_another_model(model: ModelServer) -> None:
    async with ModelServer(says("two")) as other, ModelServer(says("twin")) as twin:
        listed = f"{model.url}/v1|one,{other.url}/v1|two,{twin.url}/v1|one"
        async with live(None, llm_pool_foreground=listed) as engine:
            model.enqueue(Reply([LOOK]), Failure(500, retry_after=QUICK))
            frames = await engine.execute("hi")
    assert (blocks(frames)[-1]["text"], models(frames), other.calls) == ("twin", ["one", "one"], [])


async def test_a_turn_whose_model_is_gone_goes_on_with_another(model: ModelServer) -> None:
    async with ModelServer(says("two")) as second:
        listed = f"{model.url}/v1|one,{second.url}/v1|two"
        async with live(None, llm_pool_foreground=listed) as engine:
            model.enqueue(Reply([LOOK]), *[Failure(500, retry_after=QUICK)] * 3)
            frames = await engine.execute("hi")
    (fallback,) = events(frames, "provider_fallback")
    assert (fallback["from_model"], fallback["to_model"]) == ("one", "two")
    assert (last(frames)["phase"], models(frames)) == ("completed", ["one", "two"])


async def test_everybody_can_see_who_answers_in_which_role(model: ModelServer) -> None:
    listed = {"llm_pool_worker": "http://w/v1|small", "llm_pool_vision": "http://v/v1|eye"}
    async with live(model, light_model="light", planner_model="thinker", **listed) as engine:
        roles = (await engine.http.get("/health")).json()["subsystems"]["llm"]["roles"]
    front = [f"127.0.0.1:{model.port}/gpt-4o"]
    assert roles == {
        "foreground": front,
        "worker": ["w/small"],
        "coding": front,
        "critic": front,
        "vision": ["v/eye"],
        "light": [f"127.0.0.1:{model.port}/light"],
        "fallback": [],
        "planner": [f"127.0.0.1:{model.port}/thinker"],
    }


@pytest.mark.parametrize(
    ("request_", "fallback", "cast"),
    [
        (TurnRequest(), None, ("", "coding")),
        (TurnRequest(), "spare", ("spare", "coding")),
        (TurnRequest(model="chosen"), None, ("chosen", "foreground")),
        (TurnRequest(model="chosen"), "spare", ("spare", "foreground")),
        (TurnRequest(permission_mode="plan"), None, ("thinker", "foreground")),
        (TurnRequest(model="chosen", permission_mode="plan"), None, ("chosen", "foreground")),
    ],
)
def test_casting(request_: TurnRequest, fallback: str | None, cast: tuple[str, str]) -> None:
    settings = Settings.model_validate({"llm_pool_coding": "http://c/v1|coder", "planner_model": "thinker"})
    said = [Message(role="user", content=(TextBlock(text=text),)) for text in (CODE, "thanks")]
    state = TurnState(turn_id="turn_1", request=request_, fallback_model=fallback, messages=said)
    assert (model_of(state, settings), role_of(state, settings)) == cast
