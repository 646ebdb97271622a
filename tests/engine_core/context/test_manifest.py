"""What each model call was shown, over HTTP: listed, block by block, and compared; it grows with what is new."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.engine_core.context.layers import Layer
from aster.engine_core.context.manifest import Moved, Parts, entries_of, moved_since
from aster.engine_core.context.prompt import Prompt
from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall, Usage
from tests.engine_core.frames import events
from tests.live import Live, live

PROMPT = "Answer in one word."


async def calls(engine: Live, task_id: str = "t1", **params: Any) -> list[dict[str, Any]]:
    return (await engine.http.get(f"/tasks/{task_id}/context", params=params)).json()["calls"]


async def blocks(engine: Live, call: int, task_id: str = "t1") -> list[dict[str, Any]]:
    return (await engine.http.get(f"/tasks/{task_id}/context/{call}")).json()["blocks"]


async def diff(engine: Live, **params: Any) -> dict[str, Any]:
    return (await engine.http.get("/tasks/t1/context/diff", params=params)).json()


def names(found: list[dict[str, Any]]) -> list[str]:
    """Its blocks, but for those that only some engines have."""
    return [block["block"] for block in found if block["block"] not in ("skills", "memory")]


async def test_every_call_has_a_manifest_in_the_order_of_the_prompt(model: ModelServer) -> None:
    model.enqueue(
        Reply([ToolCall("glob", {"pattern": "*"})], usage=Usage(input=100, output=5)),
        Reply([Text("No.")], usage=Usage(input=40, output=5, cache_read=90, cache_write=20)),
        Reply([Text("Yes.")]),
    )
    async with live(model, system_prompt=PROMPT) as engine:
        await engine.execute("Are there files?")
        await engine.execute("Sure?")
        newest, second, first = await calls(engine)
        assert (second["input_tokens"], second["cached_tokens"], second["written_tokens"]) == (150, 90, 20)
        assert [call["moved"] for call in (first, second, newest)] == [None, None, None]
        assert names(await blocks(engine, first["call"])) == ["system", "rules", "tools", "message"]
        assert names(await blocks(engine, second["call"])) == ["system", "rules", "tools", "message", "steps"]
        last = await blocks(engine, newest["call"])
        assert names(last) == ["system", "rules", "tools", "history", "message"]
        assert (last[0]["source"], last[-2]["messages"], last[-1]["messages"]) == ("operator", 4, 1)
        assert sum(block["tokens"] for block in last) == newest["total_tokens"]
        assert newest["window"] > newest["total_tokens"]


async def test_the_pages_of_the_list_are_one_list(model: ModelServer) -> None:
    async with live(model) as engine:
        for number in range(5):
            await engine.execute(f"message {number}")
        whole = await calls(engine)
        page = (await engine.http.get("/tasks/t1/context", params={"limit": 3})).json()
        rest = (await engine.http.get("/tasks/t1/context", params={"limit": 3, "before": page["next"]})).json()
        assert page["calls"] + rest["calls"] == whole
        assert (len(page["calls"]), len(rest["calls"]), rest["next"]) == (3, 2, None)


async def test_two_calls_compared_name_the_first_block_that_moved(model: ModelServer, tmp_path: Path) -> None:
    place = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=place, system_prompt=PROMPT) as engine:
        await engine.execute("one")
        await engine.execute("two")
        same = await diff(engine)
        assert same["moved"] is None
        changes = {(one["after"] or one["before"])["block"]: one["change"] for one in same["blocks"]}
        wanted = {"system": "same", "rules": "same", "tools": "same", "history": "added", "message": "changed"}
        assert {name: change for name, change in changes.items() if name in wanted} == wanted
    async with live(model, sqlite_db_path=place, system_prompt="Answer in two words.") as engine:
        frames = await engine.execute("three")
        moved = await diff(engine)
        assert moved["moved"] == {"block": "system", "source": "operator"}
        manifest = events(frames, "context_manifest")[-1]
        assert (manifest["moved"], manifest["moved_source"]) == ("system", "operator")
        third, second, first = await calls(engine)
        across = await diff(engine, **{"from": first["call"], "to": third["call"]})
        assert across["moved"] == moved["moved"]
        assert (await diff(engine, **{"from": first["call"], "to": second["call"]}))["moved"] is None


async def test_a_call_that_is_not_there_is_said_not_to_be(model: ModelServer, tmp_path: Path) -> None:
    place = tmp_path / "brain.sqlite"
    other = keys.create(place, "other", "somebody-else").key
    async with live(model, engine_api_key="operator-key-of-this-test", sqlite_db_path=place) as engine:
        await engine.execute("hi")
        assert (await engine.http.get("/tasks/nobody/context")).status_code == 404
        for path in ("/tasks/t1/context/1", "/tasks/t1/context/999999", "/tasks/t1/context/diff"):
            answer = await engine.http.get(path)
            assert (answer.status_code, answer.json()["error"]) == (404, "NOT_FOUND"), path
        assert (await engine.http.get("/tasks/t1/context/0")).status_code == 422
        assert (await engine.http.get("/tasks/t1/context/diff", params={"from": "x"})).status_code == 422
        call = (await calls(engine))[0]["call"]
        headers = {"X-Engine-Key": other}
        assert (await engine.http.get(f"/tasks/t1/context/{call}", headers=headers)).status_code == 404


async def test_a_call_that_fails_is_accounted_for_too(model: ModelServer) -> None:
    async with live(model) as engine:
        await engine.execute("[[fail=400]]")
        assert [call["input_tokens"] for call in await calls(engine)] == [0]


async def test_a_manifest_grows_with_what_is_new(model: ModelServer) -> None:
    async with live(model) as engine:
        for _ in range(3):
            await engine.execute('[[tools=8 tool=glob input={"pattern":"*"} text=3]]')
        sizes = [
            len(frame.raw)
            for frame in await engine.replay(task_id="t1", after_seq=0)
            if frame.event == "context_manifest"
        ]
    assert len(sizes) == 27
    later = [size for at, size in enumerate(sizes) if at % 9]
    assert max(later) < 500
    assert max(sizes) < 1100


def parts(*said: str, system: str = "S", tools: str | None = None, own: int = 1) -> Parts:
    layers = [Layer("system", "operator", system)]
    if tools is not None:
        layers.append(Layer("soul", "memory", tools))
    messages = tuple(Message(role="user", content=(TextBlock(text=text),), id=text) for text in said)
    return Parts(tuple(layers), ModelRequest(model="m", system=system, messages=messages), own, "turn-1")


def prompt(given: Parts) -> Prompt:
    return Prompt("turn-1", "m", entries_of(given), 10, 10, 0, 0, 0)


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (parts("a", "b"), None),
        (parts("a", "b", "c"), None),
        (parts("a", "b", system="T"), Moved("system", "operator")),
        (parts("a", "b", tools="soul"), Moved("soul", "memory")),
        (parts("x", "b", "c"), Moved("history", "up to turn-1")),
        (parts("a", "y", "c"), Moved("message", "b")),
        (parts("a"), Moved("message", "b")),
    ],
)
def test_what_moved_is_the_first_thing_that_is_not_what_it_was(after: Parts, moved: Moved | None) -> None:
    before = prompt(parts("a", "b"))
    assert moved_since(before, after, entries_of(after)) == moved


def test_a_block_that_went_is_named() -> None:
    before = prompt(parts("a", tools="soul"))
    after = parts("a")
    assert moved_since(before, after, entries_of(after)) == Moved("soul", "memory")


def test_a_manifest_says_the_same_of_equal_messages_that_are_other_objects() -> None:
    assert encode(entries_of(parts("a", "b"))) == encode(entries_of(parts("a", "b")))
