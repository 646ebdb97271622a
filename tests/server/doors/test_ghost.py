"""`/api/chat` and its neighbours: both sets of fields, streams that end as they should, sessions and cancels."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from aster.infra.ids import new_id
from aster.server import keys
from aster.testing import Failure, Hold, ModelServer, Reply, Text, Usage
from tests.live import Live, live
from tests.server.conftest import KEY
from tests.server.doors.chat import turns, user

GHOST = {"X-Ghost-Key": KEY}


async def chat(engine: Live, *messages: dict[str, Any], path: str = "/api/chat", **body: Any) -> Any:
    return await engine.http.post(path, json={"messages": list(messages), **body}, headers=GHOST)


def frames_of(text: str) -> list[str]:
    return [frame for frame in text.split("\n\n") if frame]


def unique(text: str) -> dict[str, Any]:
    return user(f"{text} {new_id('x')}")


@pytest.mark.parametrize("path", ["/api/chat", "/chat"])
async def test_an_answer_has_both_sets_of_fields(engine: Live, model: ModelServer, path: str) -> None:
    model.enqueue(Reply([Text("Hello.")], usage=Usage(10, 3, 0, 0)))
    answer = await chat(engine, unique("hi"), path=path, model="aster:latest")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["object"], found["choices"][0]["message"]["content"]) == ("chat.completion", "Hello.")
    assert found["id"] == f"chatcmpl-{answer.headers['X-Turn-ID']}"
    assert (found["message"], found["done"]) == ({"role": "assistant", "content": "Hello."}, True)
    assert (found["usage"]["total_tokens"], found["ghost_llm_calls"]) == (13, 1)
    assert found["created_at"].endswith("Z")


async def test_the_first_bytes_come_before_the_agent_has_answered(engine: Live, model: ModelServer) -> None:
    hold = Hold(new_id("hold"))
    model.enqueue(Reply([hold, Text("At last.")]))
    body = {"messages": [unique("slow")], "stream": True}
    async with engine.http.stream("POST", "/api/chat", json=body, headers=GHOST) as response:
        assert response.headers["x-accel-buffering"] == "no"
        parts = response.aiter_text()
        assert (await anext(parts)).startswith(": processing request...")
        model.release(hold.name)
        rest = "".join([part async for part in parts])
    frames = frames_of(rest)
    assert frames[-1] == "data: [DONE]"
    assert "At last." in rest


async def test_a_stream_that_fails_says_so_and_is_done(engine: Live, model: ModelServer) -> None:
    model.enqueue(Failure(kind="authentication"))
    answer = await chat(engine, unique("fail"), stream=True)
    frames = frames_of(answer.text)
    assert answer.status_code == 200
    at = next(at for at, frame in enumerate(frames) if frame.startswith("event: error\n"))
    error = json.loads(frames[at].split("data: ", 1)[1])["error"]
    assert error["id"] == answer.headers["X-Request-ID"]
    assert frames[-1] == "data: [DONE]"
    model.enqueue(Failure(kind="authentication"))
    whole = await chat(engine, unique("fail"))
    assert whole.status_code >= 400
    assert whole.json()["error"]["message"]


@pytest.mark.parametrize(
    ("messages", "status", "kind"),
    [
        ([{"role": "user", "content": None}], 422, "InvalidRequestShape"),
        ([{"role": "user", "content": ""}], 422, "InvalidRequestShape"),
        ([{"role": "user", "content": 7}], 422, "InvalidRequestShape"),
        ([], 422, "InvalidRequestShape"),
        ([{"role": "user", "content": "x"}] * 2001, 413, "RequestTooLarge"),
    ],
)
async def test_shapes_are_checked(engine: Live, messages: list[Any], status: int, kind: str) -> None:
    answer = await chat(engine, *messages)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)


async def test_what_is_no_error_is_taken(engine: Live, model: ModelServer) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    model.enqueue(Reply([Text("Fine.")]))
    answer = await chat(
        engine,
        unique("one"),
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": [{"type": "text", "text": "two"}]},
        options={"temperature": 0.5, "num_predict": 64},
    )
    assert answer.status_code == 200, answer.text
    assert model.calls[-1].body["temperature"] == 0.5


async def test_a_model_nobody_has(engine: Live) -> None:
    answer = await chat(engine, user("hi"), model="gpt-17")
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "ModelNotFound")
    wrong = await engine.http.post(
        "/api/chat", json={"messages": []}, headers={"X-Ghost-Key": "no", "X-Engine-Key": ""}
    )
    assert wrong.status_code == 401
    assert wrong.json()["error"]["type"] == "InvalidKey"


async def test_thin_and_fat_clients_share_a_session(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(*(Reply([Text(text)]) for text in ("A", "B", "C", "D")))
    await chat(engine, user("one"), session_id=task)
    await chat(engine, user("two"), session_id=task)
    fat = [user("one"), {"role": "assistant", "content": "A"}, user("two"), {"role": "assistant", "content": "B"}]
    await chat(engine, *fat, user("three"), session_id=task)
    await chat(engine, user("one"), {"role": "assistant", "content": "A"}, user("ok"), session_id=task)
    said = [item["content"] for item in await turns(engine, task)]
    assert said == ["one", "A", "two", "B", "three", "C", "ok", "D"]


async def test_the_same_word_again_is_a_new_message(engine: Live, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("A")]), Reply([Text("B")]))
    await chat(engine, user("ok"), session_id=task)
    await chat(engine, user("ok"), session_id=task)
    assert [item["content"] for item in await turns(engine, task)] == ["ok", "A", "ok", "B"]


async def test_two_at_once_get_their_own_answers(engine: Live) -> None:
    first, second = await asyncio.gather(chat(engine, unique("[[text=2]]")), chat(engine, unique("[[text=3]]")))
    assert [len(answer.json()["message"]["content"].split()) for answer in (first, second)] == [2, 3]


@pytest.mark.parametrize("by", ["session_id", "id"])
async def test_an_answer_is_cancelled(engine: Live, model: ModelServer, task: str, by: str) -> None:
    hold = Hold(new_id("hold"))
    model.enqueue(Reply([Text("begun"), hold]))
    body = {"messages": [user("slow")], "stream": True, "session_id": task}
    async with engine.http.stream("POST", "/api/chat", json=body, headers=GHOST) as response:
        parts = response.aiter_text()
        seen = ""
        while "begun" not in seen:
            seen += await anext(parts)
        named = {"session_id": task} if by == "session_id" else {"id": f"chatcmpl-{response.headers['X-Turn-ID']}"}
        done = await engine.http.post("/api/turn/cancel", json=named, headers=GHOST)
        assert (done.status_code, done.json()["session_id"]) == (200, task)
        rest = "".join([part async for part in parts])
    assert frames_of(rest)[-1] == "data: [DONE]"
    model.release(hold.name)
    again = await engine.http.post("/api/turn/cancel", json=named, headers=GHOST)
    assert again.status_code == 404
    model.enqueue(Reply([Text("free")]))
    assert (await chat(engine, user("next"), session_id=task)).json()["message"]["content"] == "free"


async def test_sessions_are_ones_own(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = ({"X-Ghost-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    async with live(model, sqlite_db_path=brain, memory_enabled=False) as engine:
        model.enqueue(Reply([Text("A")]), Reply([Text("B")]))
        for who in (ada, bob):
            body = {"messages": [user("Zanzibar" if who is ada else "hello")], "session_id": "s"}
            await engine.http.post("/api/chat", json=body, headers=who)
        assert "Zanzibar" not in str(model.calls[-1].body)


async def test_what_clients_ask_first(engine: Live) -> None:
    assert (await engine.http.get("/api/version", headers=GHOST)).json()["version"]
    tags = (await engine.http.get("/api/tags", headers=GHOST)).json()["models"]
    assert tags[0]["name"] == "aster"
    shown = await engine.http.post("/api/show", json={"name": "aster:latest"}, headers=GHOST)
    assert "tools" in shown.json()["capabilities"]
    assert (await engine.http.post("/api/show", json={"model": "x"}, headers=GHOST)).status_code == 404


async def test_one_prompt(engine: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("Whole.")]), Reply([Text("In parts.")]), Failure(kind="authentication"))
    body = {"prompt": "say", "stream": False}
    whole = (await engine.http.post("/api/generate", json=body, headers=GHOST)).json()
    assert (whole["response"], whole["done"]) == ("Whole.", True)
    answer = await engine.http.post("/api/generate", json={"prompt": "say"}, headers=GHOST)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "".join(line["response"] for line in lines) == "In parts."
    assert [line["done"] for line in lines][-1]
    failing = await engine.http.post("/api/generate", json={"prompt": "say"}, headers=GHOST)
    assert json.loads(failing.text.splitlines()[-1])["error"]["id"] == failing.headers["X-Request-ID"]
