"""What was used and what it cost, over HTTP: it adds up, it is the caller's own, and it never changes later."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import pytest_asyncio

from aster.contracts.errors import EngineError, ErrorCode
from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall, Usage
from tests.live import Live, live
from tests.server.conftest import KEY

LOOK = ToolCall("glob", {"pattern": "*"})
BUCKETS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_hit_tokens",
    "cache_write_tokens": "cache_write_tokens",
}


class Three(NamedTuple):
    """An engine with its operator and two users."""

    engine: Live
    ada: dict[str, str]
    bob: dict[str, str]

    async def get(self, who: dict[str, str] | None = None, **params: Any) -> Any:
        answer = await self.engine.http.get("/usage", params=params, headers=who or {})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def put(self, scope: str, limit: float | None, who: dict[str, str] | None = None, **params: Any) -> Any:
        path, body = f"/usage/budgets/{scope}", {"limit_usd": limit}
        return await self.engine.http.put(path, json=body, headers=who or {}, params=params)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def three(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Three]:
    brain: Path = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    ada, bob = keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key
    async with live(model, sqlite_db_path=brain, engine_api_key=KEY, llm_model="gpt-4o") as engine:
        model.enqueue(
            Reply([LOOK], usage=Usage(input=1000, output=100, cache_read=500)),
            Reply([Text("done")], usage=Usage(input=2000, output=50)),
            Reply([Text("done")], usage=Usage(input=30, output=3)),
            Reply([Text("done")], usage=Usage(input=7, output=1)),
        )
        await engine.execute("two calls", "a/b", key=ada)
        await engine.execute("one call", "second", key=ada)
        await engine.execute("one call", "a/b", key=bob)
        yield Three(engine, {"X-Engine-Key": ada}, {"X-Engine-Key": bob})


async def spent_by(three: Three, who: dict[str, str]) -> list[dict[str, Any]]:
    """Every `usage` event of a user, read from their threads."""
    found: list[dict[str, Any]] = []
    for task in (await three.engine.http.get("/tasks", headers=who)).json()["tasks"]:
        path = f"/tasks/{task['task_id'].replace('/', '%2F')}/events"
        page = await three.engine.http.get(path, params={"types": "usage"}, headers=who)
        found += page.json()["events"]
    return found


@pytest.mark.parametrize("group", ["day", "model", "task", "turn", "user"])
async def test_every_grouping_adds_up_to_the_usage_events(three: Three, group: str) -> None:
    told = await spent_by(three, three.ada)
    report = await three.get(three.ada, group=group)
    assert len(told) == report["total"]["calls"] == 3
    for shown, name in BUCKETS.items():
        wanted = sum(event.get(name, 0) for event in told)
        assert report["total"][shown] == sum(row[shown] for row in report["rows"]) == wanted
    wanted = sum(event["cost_usd"] for event in told)
    assert report["total"]["cost_usd"] == pytest.approx(wanted)
    assert sum(row["cost_usd"] for row in report["rows"]) == pytest.approx(wanted)
    assert (report["total"]["unpriced_calls"], report["user"]) == (0, "ada")


async def test_rows_say_what_they_are(three: Three) -> None:
    tasks = (await three.get(three.ada, group="task"))["rows"]
    assert [(row["key"], row["user_id"], row["calls"]) for row in tasks] == [
        ("second", "ada", 1),
        ("a/b", "ada", 2),
    ]
    turns = (await three.get(three.ada, group="turn", task_id="a/b"))["rows"]
    assert [(row["task_id"], row["key"] == row["turn_id"], row["calls"]) for row in turns] == [("a/b", True, 2)]
    (model,) = (await three.get(three.ada, group="model"))["rows"]
    assert (model["key"], model["user_id"]) == ("gpt-4o", None)
    (day,) = (await three.get(three.ada))["rows"]
    assert day["key"] == day["last_at"][:10]


async def test_a_limit_cuts_the_rows_and_not_the_total(three: Three) -> None:
    report = await three.get(three.ada, group="turn", limit=1)
    assert (len(report["rows"]), report["total"]["calls"]) == (1, 3)


async def test_users_see_their_own_and_the_operator_everybodys(three: Three) -> None:
    assert (await three.get(three.bob))["total"]["calls"] == 1
    assert (await three.get())["total"]["calls"] == 0
    assert (await three.get(user="bob"))["total"]["calls"] == 1
    everybody = await three.get(user="*", group="user")
    assert {row["key"]: row["calls"] for row in everybody["rows"]} == {"ada": 3, "bob": 1}
    tasks = (await three.get(user="*", group="task"))["rows"]
    assert len(tasks) == 3
    for other in ("bob", "*", "default"):
        refused = await three.engine.http.get("/usage", params={"user": other}, headers=three.ada)
        assert (refused.status_code, refused.json()["error"]) == (403, "PERMISSION_DENIED")


async def test_a_time_span(three: Three) -> None:
    today = datetime.now(UTC).date()
    yesterday, tomorrow = today - timedelta(days=1), today + timedelta(days=1)

    async def calls(**span: Any) -> int:
        return (await three.get(three.ada, **span))["total"]["calls"]

    assert await calls(**{"from": yesterday, "to": tomorrow}) == 3
    assert await calls(to=yesterday - timedelta(days=1)) == 0
    assert await calls(**{"from": tomorrow + timedelta(days=1)}) == 0
    moment = datetime.now(UTC) + timedelta(minutes=1)
    assert await calls(to=moment.isoformat()) == 3
    assert await calls(**{"from": moment.isoformat().replace("+00:00", "Z")}) == 0
    assert await calls(to=str(int(moment.timestamp() * 1000))) == 3


@pytest.mark.parametrize(
    "params", [{"group": "mood"}, {"from": "soon"}, {"to": "2026-13-01"}, {"limit": 0}, {"task_id": ""}]
)
async def test_wrong_questions_are_refused_by_name(three: Three, params: dict[str, Any]) -> None:
    answer = await three.engine.http.get("/usage", params=params)
    assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST")
    assert answer.json()["details"]["fields"][0]["field"] == next(iter(params))


async def test_a_budget_is_set_seen_and_taken_back(three: Three) -> None:
    made = await three.put("task:a%2Fb", 2.0, three.ada)
    assert made.status_code == 200
    assert made.json()["scope"] == "task:a/b"
    assert made.json()["spent_usd"] == pytest.approx(
        (await three.get(three.ada, task_id="a/b"))["total"]["cost_usd"]
    )
    await three.put("user", 4.0, user="ada")

    async def listed(who: dict[str, str] | None = None, **params: str) -> list[tuple[str, str, str, float]]:
        answer = await three.engine.http.get("/usage/budgets", headers=who or {}, params=params)
        return [(b["user_id"], b["scope"], b["owner"], b["limit_usd"]) for b in answer.json()["budgets"]]

    both = [("ada", "task:a/b", "user", 2.0), ("ada", "user", "operator", 4.0)]
    assert (
        sorted(await listed(three.ada))
        == sorted(await listed(user="ada"))
        == sorted(await listed(user="*"))
        == both
    )
    assert await listed(three.bob) == []

    async def dropped(scope: str, who: dict[str, str] | None = None, **params: str) -> int:
        answer: httpx2.Response = await three.engine.http.delete(
            f"/usage/budgets/{scope}", headers=who or {}, params=params
        )
        return answer.status_code

    assert await dropped("user", three.ada) == 404
    assert await dropped("user", three.bob, user="ada") == 403
    assert await dropped("user", user="ada") == 200
    assert await dropped("task:a%2Fb", three.ada) == 200
    assert await listed(user="*") == []


async def test_a_user_may_only_lower(three: Three) -> None:
    await three.put("task:capped", 2.0, user="ada")
    assert (await three.put("task:capped", 2.5, three.ada)).status_code == 403
    assert (await three.put("task:capped", None, three.ada)).status_code == 403
    assert (await three.put("task:capped", 1.0, three.ada)).status_code == 200
    assert (await three.put("task:capped", 1.5, three.ada)).status_code == 200
    assert (await three.put("task:capped", 1.0, three.bob, user="ada")).status_code == 403
    assert (await three.put("task:capped", 9.0, three.bob)).status_code == 200
    for who, user in ((three.ada, "ada"), (three.bob, "bob"), ({}, "ada")):
        answer = await three.engine.http.delete("/usage/budgets/task:capped", headers=who, params={"user": user})
        assert answer.status_code == 200


@pytest.mark.parametrize("scope", ["turn:t1", "task:", "task", "users"])
async def test_a_scope_is_a_day_or_a_task(three: Three, scope: str) -> None:
    answer = await three.put(scope, 1.0)
    assert (answer.status_code, answer.json()["details"]["fields"][0]["field"]) == (422, "scope")


@pytest.mark.parametrize("body", [b'{"limit_usd": -1}', b'{"limit_usd": "much"}', b'{"limit_usd": 1e400}', b"{}"])
async def test_a_limit_is_an_amount(three: Three, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await three.engine.http.put("/usage/budgets/user", content=body, headers=headers)
    assert (answer.status_code, answer.json()["details"]["fields"][0]["field"]) == (422, "limit_usd")


async def test_a_new_price_changes_nothing_that_was_written(model: ModelServer, tmp_path: Path) -> None:
    brain, facts = tmp_path / "brain.sqlite", tmp_path / "facts.json"
    answer = Reply([Text("done")], usage=Usage(input=1_000_000))

    async def spend(**settings: Any) -> Any:
        async with live(model, sqlite_db_path=brain, llm_model="house-model", **settings) as engine:
            model.enqueue(answer)
            await engine.execute("go")
            return (await engine.http.get("/usage", params={"group": "turn"})).json()

    unknown = await spend()
    assert unknown["rows"][0]["cost_usd"] is None
    assert (unknown["total"]["cost_usd"], unknown["total"]["unpriced_calls"]) == (None, 1)
    assert unknown["total"]["input_tokens"] == 1_000_000
    facts.write_text(json.dumps({"house-model": {"price": {"input": 3, "output": 9}}}))
    priced = await spend(model_facts_path=facts)
    assert [row["cost_usd"] for row in priced["rows"]] == [3.0, None]
    facts.write_text(json.dumps({"house-model": {"price": {"input": 30, "output": 9}}}))
    dearer = await spend(model_facts_path=facts)
    assert [row["cost_usd"] for row in dearer["rows"]] == [30.0, 3.0, None]
    assert (dearer["total"]["cost_usd"], dearer["total"]["unpriced_calls"]) == (33.0, 1)
    assert (await spend())["rows"][0]["cost_usd"] is None


async def test_facts_that_cannot_be_right_stop_the_start(tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text('{"house-model": {"price": {"input": "three"}}}')
    with pytest.raises(EngineError) as refused:
        async with live(model_facts_path=facts):
            pass
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    assert "house-model" in refused.value.message
