"""When a provider fails, through HTTP: what is tried again, who answers instead, what is said, what is not sent."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from aster.testing import (
    Cut,
    Failure,
    Hold,
    Malformed,
    ModelServer,
    Reply,
    Rule,
    Stall,
    StreamError,
    Text,
    ToolCall,
)
from tests.engine_core.frames import blocks, events, last, transitions
from tests.live import Live, Seen, live, text_of

QUICK = 0.01
"""Asks for a retry so soon that no test waits for it."""

LOOK = ToolCall("glob", {"pattern": "*"})
WRITE = ToolCall("write_file", {"path": "a.txt", "content": "alpha"})
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
PICTURE = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]


class Clock:
    """Times the circuits; it stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def kinds(frames: list[Seen], kind: str, field: str) -> list[Any]:
    return [data[field] for data in events(frames, kind)]


def error(frames: list[Seen]) -> dict[str, Any]:
    assert last(frames)["phase"] == "errored"
    return events(frames, "error")[0]


async def llm(engine: Live) -> dict[str, Any]:
    return (await engine.http.get("/health")).json()["subsystems"]["llm"]


async def metric(engine: Live, line: str) -> bool:
    return line in (await engine.http.get("/metrics")).text.splitlines()


@pytest.mark.parametrize(
    ("fault", "code", "tried", "retry"),
    [
        (Failure(500, retry_after=QUICK), "LLM_PROVIDER_ERROR", 3, "after"),
        (Failure(529, retry_after=QUICK), "LLM_PROVIDER_ERROR", 3, "after"),
        (Failure(400), "LLM_PROVIDER_ERROR", 1, "never"),
        (Failure(401), "LLM_PROVIDER_ERROR", 1, "never"),
        (Failure(404), "LLM_PROVIDER_ERROR", 1, "never"),
        (Failure(kind="context_overflow"), "CONTEXT_OVERFLOW", 1, "never"),
        (Failure(429, retry_after=3600), "LLM_RATE_LIMITED", 1, "after"),
    ],
    ids=["500", "529", "400", "401", "404", "overflow", "long-rate-limit"],
)
async def test_a_refusal_ends_in_its_code(
    model: ModelServer, fault: Failure, code: str, tried: int, retry: str
) -> None:
    model.script([Rule(fault)])
    async with live(model) as engine:
        frames = await engine.execute("go")
    said = error(frames)
    assert (said["error"], said.get("retry", "never")) == (code, retry)
    assert len(model.calls) == tried
    assert transitions(frames) == (["transport_retry"] * 3 if tried > 1 else [])


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Reply([Text("half"), Stall()]), "LLM_TIMEOUT"),
        (Reply([Text("half"), Cut()]), "LLM_PROVIDER_ERROR"),
        (Reply([Text("half"), Malformed(b"data: {nonsense\n\n")]), "LLM_PROVIDER_ERROR"),
        (Reply([Text("half"), StreamError("overloaded")]), "LLM_PROVIDER_ERROR"),
    ],
    ids=["stall", "cut", "malformed", "stream-error"],
)
async def test_a_broken_stream_is_taken_back_and_counts(model: ModelServer, fault: Reply, code: str) -> None:
    async with live(model, llm_idle_timeout=0.05) as engine:
        model.enqueue(fault)
        first = asyncio.create_task(engine.execute("go", "t1"))
        await model.wait_calls(1, ended=True)
        model.enqueue(fault, fault)
        others = [engine.execute("go", task) for task in ("t2", "t3")]
        threads = await asyncio.gather(first, *others)
    assert len(model.calls) == 3
    for frames in threads:
        assert error(frames)["error"] == code
        half = next(frame for frame in frames if frame.event == "content_block_start")
        recovery = events(frames, "recovery")[0]
        assert (recovery["reason"], recovery["discarded_from_seq"]) == ("transport", half.id)
    opened = [frames for frames in threads if kinds(frames, "circuit_state", "state")]
    assert len(opened) == 1
    names = [frame.event for frame in opened[0]]
    assert names.index("recovery") < names.index("circuit_state")


async def test_the_circuit_opens_is_shown_and_closes_again(model: ModelServer) -> None:
    clock = Clock()
    async with live(model, clock=clock) as engine:
        model.script([Rule(Failure(500, retry_after=QUICK))])
        frames = await engine.execute("go")
        states = events(frames, "circuit_state")
        assert [(event["state"], event["failures"], event["retry_after_ms"]) for event in states] == [
            ("open", 3, 60_000)
        ]
        assert error(frames)["details"]["retry_after_seconds"] == 60

        refused = await engine.execute("go", "t2")
        assert (error(refused)["error"], transitions(refused)) == ("LLM_PROVIDER_ERROR", [])
        assert error(refused)["details"]["circuit"] == "open"
        assert len(model.calls) == 3
        health = await llm(engine)
        assert not health["ok"]
        assert [(e["circuit"], e["failures"], e["pools"]) for e in health["endpoints"]] == [
            ("open", 3, ["foreground"])
        ]
        assert await metric(engine, "aster_circuits_open 1.0")

        clock.now += 60
        model.script([Rule(Reply([Text("back")]))])
        frames = await engine.execute("go", "t3")
        assert kinds(frames, "circuit_state", "state") == ["half_open", "closed"]
        assert text_of(frames) == "back"
        assert (await llm(engine))["ok"]
        assert await metric(engine, "aster_circuits_open 0.0")


async def test_one_turn_tries_and_the_others_wait(model: ModelServer) -> None:
    clock = Clock()
    async with live(model, clock=clock) as engine:
        model.enqueue(*[Failure(500, retry_after=QUICK)] * 3)
        await engine.execute("go")
        clock.now += 60
        model.enqueue(Reply([Text("back"), Hold()]), Reply([Text("me too")]))
        trying = asyncio.create_task(engine.execute("go", "t2"))
        await model.wait_held()
        assert (await llm(engine))["endpoints"][0]["circuit"] == "half_open"
        async with engine.executing("go", "t3") as waiting:
            transition = await waiting.until("turn_transition", reason="transport_retry")
            assert 5000 <= transition.data["delay_ms"] <= 6000
            assert len(model.calls) == 4
            model.release()
            assert text_of(await trying) == "back"
            await engine.http.post("/execute/cancel", json={"task_id": "t3"})


async def test_a_passing_rate_limit_is_waited_for(model: ModelServer) -> None:
    async with live(model, fallback_model="spare") as engine:
        model.enqueue(Failure(429, retry_after=0.2), Reply([Text("whole")]))
        frames = await engine.execute("go")
    assert transitions(frames) == ["transport_retry"]
    assert 200 <= events(frames, "turn_transition")[0]["delay_ms"] <= 250
    assert text_of(frames) == "whole"
    assert events(frames, "provider_fallback") == []


async def test_a_limit_is_remembered_over_a_restart(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as engine:
        model.enqueue(Failure(429, retry_after=3600))
        assert error(await engine.execute("go"))["error"] == "LLM_RATE_LIMITED"
        assert await metric(engine, "aster_quotas_used_up 1.0")
    async with live(model, sqlite_db_path=brain) as engine:
        said = error(await engine.execute("go", "t2"))
        assert (said["error"], said["retry"]) == ("LLM_RATE_LIMITED", "after")
        assert 3500 < said["details"]["retry_after_seconds"] <= 3600
        assert len(model.calls) == 1
        endpoint = (await llm(engine))["endpoints"][0]
        assert endpoint["rate_limited"]
        assert endpoint["retry_after_seconds"] > 3500


async def test_an_overloaded_model_gives_way_after_its_retries(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("from spare")]), model="spare"), Rule(Failure(529, retry_after=QUICK))])
    async with live(model, fallback_model="spare") as engine:
        frames = await engine.execute("go")
        fallback = events(frames, "provider_fallback")
        assert [(event["from_model"], event["to_model"], event["reason"]) for event in fallback] == [
            ("gpt-4o", "spare", "circuit_open")
        ]
        assert transitions(frames) == ["transport_retry"] * 2
        assert [call.body["model"] for call in model.calls] == ["gpt-4o"] * 3 + ["spare"]
        assert (last(frames)["phase"], text_of(frames)) == ("completed", "from spare")

        frames = await engine.execute("again")
        assert kinds(frames, "provider_fallback", "to_model") == ["spare"]
        assert [call.body["model"] for call in model.calls[4:]] == ["spare"]
        assert await metric(engine, 'aster_provider_fallbacks_total{reason="circuit_open"} 2.0')


async def test_the_fallback_is_for_this_turn_and_the_next_asks_its_own_model(model: ModelServer) -> None:
    clock = Clock()
    model.script([Rule(Reply([Text("from spare")]), model="spare"), Rule(Failure(529, retry_after=QUICK))])
    async with live(model, clock=clock, fallback_model="spare") as engine:
        await engine.execute("go")
        clock.now += 60
        model.script([Rule(Reply([Text("myself again")]))])
        frames = await engine.execute("again")
        assert (text_of(frames), events(frames, "provider_fallback")) == ("myself again", [])
        assert model.calls[-1].body["model"] == "gpt-4o"


async def test_a_long_rate_limit_gives_way_at_once(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("from spare")]), model="spare"), Rule(Failure(429, retry_after=3600))])
    async with live(model, fallback_model="spare") as engine:
        frames = await engine.execute("go")
        assert kinds(frames, "provider_fallback", "reason") == ["rate_limited"]
        assert (transitions(frames), text_of(frames)) == ([], "from spare")
        await engine.execute("again")
        assert [call.body["model"] for call in model.calls] == ["gpt-4o", "spare", "spare"]


async def test_a_fallback_that_fails_too_is_the_end(model: ModelServer) -> None:
    model.script([Rule(Failure(429, retry_after=3600))])
    async with live(model, fallback_model="spare") as engine:
        frames = await engine.execute("go")
    assert error(frames)["error"] == "LLM_RATE_LIMITED"
    assert [call.body["model"] for call in model.calls] == ["gpt-4o", "spare"]
    assert len(events(frames, "provider_fallback")) == 1


async def test_after_looking_another_model_may_go_on(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("from spare")]), model="spare")])
    async with live(model, fallback_model="spare") as engine:
        model.enqueue(Reply([LOOK]), Failure(429, retry_after=3600))
        frames = await engine.execute("go")
    assert kinds(frames, "provider_fallback", "to_model") == ["spare"]
    assert blocks(frames)[-1]["text"] == "from spare"


async def test_after_an_effect_no_other_model_goes_on(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("from spare")]), model="spare")])
    async with live(model, fallback_model="spare") as engine:
        model.enqueue(Reply([WRITE]), Reply([LOOK]), Failure(429, retry_after=3600))
        frames = await engine.execute("go")
    assert error(frames)["error"] == "LLM_RATE_LIMITED"
    assert events(frames, "provider_fallback") == []
    assert len(model.calls) == 3


async def test_after_an_effect_another_node_of_the_same_model_goes_on(model: ModelServer) -> None:
    async with ModelServer([Rule(Reply([Text("from the twin")]))]) as twin, ModelServer() as other:
        listed = f"{model.url}/v1|m,{other.url}/v1|other,{twin.url}/v1|m"
        async with live(None, llm_pool_foreground=listed) as engine:
            model.enqueue(Reply([WRITE]), Failure(500, retry_after=QUICK))
            frames = await engine.execute("go")
    assert blocks(frames)[-1]["text"] == "from the twin"
    assert events(frames, "provider_fallback") == []
    assert other.calls == []


async def test_turns_go_round_the_pool_and_past_a_node_that_is_gone(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("one")]))])
    async with ModelServer([Rule(Reply([Text("two")]))]) as second:
        listed = f"{model.url}/v1|m,{second.url}/v1|m"
        async with live(None, llm_pool_foreground=listed) as engine:
            assert [text_of(await engine.execute("go", f"t{n}")) for n in range(4)] == ["one", "two"] * 2
            await second.stop()
            frames = await engine.execute("go", "t4")
            assert text_of(frames) == "one"
            frames = await engine.execute("go", "t5")
            assert (transitions(frames), text_of(frames)) == (["transport_retry"], "one")
            assert [e["model"] for e in (await llm(engine))["endpoints"]] == ["m", "m"]


async def test_a_turn_stays_with_its_node(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("done")]), tool="glob"), Rule(Reply([LOOK]))])
    async with (
        ModelServer() as second,
        live(None, llm_pool_foreground=f"{model.url}/v1|m,{second.url}/v1|m") as engine,
    ):
        assert text_of(await engine.execute("go")) == "done"
    assert (len(model.calls), second.calls) == (2, [])


async def test_images_are_seen_by_the_vision_pool_alone(model: ModelServer) -> None:
    async with (
        ModelServer([Rule(Reply([Text("a cat")]), times=1), Rule(Failure(500, retry_after=QUICK))]) as eye,
        live(model, llm_pool_vision=f"{eye.url}/v1|eye", fallback_model="blind") as engine,
    ):
        assert text_of(await engine.execute("what is it?", media=PICTURE)) == "a cat"
        frames = await engine.execute("and now?", "t2", media=PICTURE)
        assert error(frames)["error"] == "LLM_PROVIDER_ERROR"
    assert model.calls == []


async def test_a_message_may_choose_an_allowed_model(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("ok")]))])
    async with live(model, llm_allowed_models="small, large") as engine:
        for chosen in ("small", "large"):
            await engine.execute("go", model=chosen)
        await engine.execute("go")
        assert [call.body["model"] for call in model.calls] == ["small", "large", "gpt-4o"]
        answer = await engine.http.post("/execute", json={"message": "go", "task_id": "t2", "model": "huge"})
    assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST")
    assert [item["field"] for item in answer.json()["details"]["fields"]] == ["model"]
    assert "small, large" in answer.json()["message"]
    assert len(model.calls) == 3


async def test_no_model_may_be_chosen_unless_some_are_allowed(model: ModelServer) -> None:
    async with live(model) as engine:
        answer = await engine.http.post("/execute", json={"message": "go", "task_id": "t1", "model": "gpt-4o"})
        assert (answer.status_code, model.calls) == (422, [])
        assert "LLM_ALLOWED_MODELS" in answer.json()["message"]
        assert (await engine.http.get("/tasks/t1")).status_code == 404
