"""Watches: they fire when what was not so becomes so, and run nothing that somebody would have to be asked about."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Rule, Text
from tests.live import Live
from tests.web_server import Asked, reply, web_server
from tests.work.schedules.clockwork import Hands, heard, made, occurrences, schedule, ticks, timed, until


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script([Rule(Reply([Text("Seen.")]), match="Scheduled|Hello")])
        yield server


async def _looked(engine: Live, hands: Hands, found: dict[str, Any], count: int, seconds: int) -> None:
    """So many looks pass."""
    for _ in range(count):
        before = (await schedule(engine, found))["next_at"]
        hands.forward(seconds)

        async def again(before: str = before) -> bool:
            return (await schedule(engine, found))["next_at"] != before

        await until(again)
    await ticks(1)


async def test_a_command_fires_each_time_it_begins_to_succeed(model: ModelServer, tmp_path: Path) -> None:
    hands = Hands()
    async with timed(model, hands, allowed_roots=str(tmp_path)) as engine:
        await engine.execute("Hello.", "t1")
        flag = tmp_path / "flag"
        found = await made(engine, watch={"command": "test -f flag", "every_seconds": 10}, task_id="t1")
        await _looked(engine, hands, found, 2, 10)
        assert await occurrences(engine, found) == []
        flag.touch()
        await _looked(engine, hands, found, 2, 10)
        await heard(engine, hands, found)
        flag.unlink()
        await _looked(engine, hands, found, 1, 10)
        flag.touch()
        await _looked(engine, hands, found, 3, 10)
        await heard(engine, hands, found, 2)
        asked = [str(call.body) for call in model.calls if "came true" in str(call.body)]
        assert len(asked) == 2


async def test_what_would_have_to_be_asked_about_is_no_check(model: ModelServer, tmp_path: Path) -> None:
    async with timed(model, Hands(), allowed_roots=str(tmp_path)) as engine:
        await engine.execute("Hello.", "t1")
        body = {"prompt": "x", "task_id": "t1", "watch": {"command": "rm -rf /"}}
        answer = await engine.http.post("/schedules", json=body)
        assert (answer.status_code, answer.json()["error"]) == (403, "PERMISSION_DENIED")


async def test_a_rule_that_is_made_later_stops_a_check(model: ModelServer, tmp_path: Path) -> None:
    hands = Hands()
    async with timed(model, hands, allowed_roots=str(tmp_path)) as engine:
        await engine.execute("Hello.", "t1")
        (tmp_path / "flag").touch()
        found = await made(engine, watch={"command": "test -f other", "every_seconds": 10}, task_id="t1")
        deny = {"tool": "bash", "pattern": "test *", "behavior": "deny"}
        assert (await engine.http.post("/permissions", json=deny)).status_code in (200, 201)
        await _looked(engine, hands, found, 1, 10)

        async def told() -> bool:
            return "may not run by itself" in (await schedule(engine, found))["problem"]

        await until(told)
        assert await occurrences(engine, found) == []


async def test_an_address_fires_when_it_begins_to_answer(model: ModelServer) -> None:
    hands, status = Hands(), 503

    def answer(asked: Asked) -> bytes:
        return reply("here", status=status)

    async with web_server(answer) as web, timed(model, hands, fetch_allowed_private="127.0.0.1") as engine:
        plain = await made(engine, watch={"url": f"{web.url}/up", "every_seconds": 10})
        gone = await made(engine, watch={"url": f"{web.url}/up", "status": 404, "every_seconds": 10})
        await _looked(engine, hands, plain, 1, 10)
        status = 404
        await _looked(engine, hands, gone, 1, 10)
        await until(lambda: occurrences(engine, gone))
        assert await occurrences(engine, plain) == []
        status = 200
        await _looked(engine, hands, plain, 1, 10)
        await until(lambda: occurrences(engine, plain))
        assert len(await occurrences(engine, gone)) == 1


async def test_an_address_behind_the_walls_is_not_looked_at(model: ModelServer) -> None:
    hands = Hands()

    def answer(asked: Asked) -> bytes:
        return reply("secret")

    async with web_server(answer) as web, timed(model, hands) as engine:
        found = await made(engine, watch={"url": web.url, "every_seconds": 10})

        async def told() -> bool:
            return "is not looked at" in (await schedule(engine, found))["problem"]

        await until(told)
        assert web.asked == []
        assert await occurrences(engine, found) == []
