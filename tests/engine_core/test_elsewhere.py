"""Hints from other replicas: what is kept in memory here is dropped or read again.

The engine is alone on its brain; what another replica would write is written straight into it, and the hint is told.
"""

import asyncio
import json
from pathlib import Path

import msgspec

from aster.brain.agents import AgentRow
from aster.brain.background import BackgroundEndRow, BackgroundRow
from aster.brain.changes import Change
from aster.brain.doors import DoorPlace
from aster.brain.marks import MarkRow
from aster.brain.records import BudgetRow, ThreadKey
from aster.contracts.agents import Agent
from aster.contracts.events import Phase, TaskLifecycle, ThreadLifecycle
from aster.contracts.model import encode
from aster.engine_core.elsewhere import Reading
from aster.infra.clock import now_ms
from aster.skills.drafts import Draft, row_of
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.asset_directory.server import asking, serving
from tests.live import Live, live

KEY = ThreadKey("default", "t1")
EVERYTHING = Change(everything=True)


def tell(engine: Live, *tables: str, threads: frozenset[ThreadKey] = frozenset()) -> None:
    engine.engine.brain.changes.tell(Change(threads, frozenset(tables)))


async def until(engine: Live, path: str, words: str) -> None:
    async with asyncio.timeout(5):
        while words not in (await engine.http.get(path)).text:
            await asyncio.sleep(0.01)


async def test_skills_budgets_and_limits_are_read_again(model: ModelServer) -> None:
    async with live(model) as engine:
        brain, now = engine.engine.brain, now_ms()
        await engine.http.get("/skills")
        await brain.put(
            row_of("default", Draft(name="tidy", description="Tidies.", prompt="Tidy up."), now),
            BudgetRow(
                user_id="default", scope="user", task_id="", owner="operator", limit_usd=7.25, updated_at=now
            ),
        )
        assert "tidy" not in (await engine.http.get("/skills")).text
        assert "7.25" not in (await engine.http.get("/usage/budgets")).text
        tell(engine, "skills", "budgets")
        assert "tidy" in (await engine.http.get("/skills")).text
        await until(engine, "/usage/budgets", "7.25")
        node = engine.engine.herald.nodes[0]
        model.enqueue(
            Reply(
                [Text("hi")],
                headers={
                    "x-ratelimit-remaining-requests": "9",
                    "x-ratelimit-limit-requests": "10",
                    "x-ratelimit-reset-requests": "1m",
                },
            )
        )
        await engine.execute("hi")
        (known,) = await brain.quota_windows()
        gone = msgspec.structs.replace(known, name="retry", capacity=1, remaining=0, seen_at=now_ms() + 1)
        await brain.put(gone)
        assert node.quota.wait() == 0
        tell(engine, "quota_windows")
        async with asyncio.timeout(5):
            while node.quota.wait() == 0:
                await asyncio.sleep(0.01)


async def test_the_catalog_is_read_again_when_that_was_asked_for_elsewhere(
    model: ModelServer, tmp_path: Path
) -> None:
    tools = tmp_path / "catalog" / "tools"
    tools.mkdir(parents=True)
    async with live(model, catalog_dir=tools.parent) as engine:
        brain = engine.engine.brain
        declared = {
            "name": "log",
            "description": "Show the newest commits.",
            "input_schema": {"type": "object", "properties": {}},
            "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo log"}},
        }
        (tools / "log.json").write_text(json.dumps(declared))
        await brain.put(MarkRow(name="catalog", value="elsewhere-1", updated_at=now_ms()))
        tell(engine, "marks")
        await until(engine, "/tools", '"log"')
        (tools / "log.json").write_text("{")
        await brain.put(MarkRow(name="catalog", value="elsewhere-2", updated_at=now_ms()))
        engine.engine.brain.changes.tell(EVERYTHING)
        async with asyncio.timeout(5):
            while not await brain.observations("operator", limit=5, kind="catalog_refused"):
                await asyncio.sleep(0.01)
        assert '"log"' in (await engine.http.get("/tools")).text, "what was in force stays"


async def test_what_is_kept_of_a_task_is_forgotten_when_it_goes_on_elsewhere(model: ModelServer) -> None:
    async with live(model) as engine:
        places = engine.engine.places
        for number in (1, 2):
            places.keep("default", DoorPlace(f"f{number}", f"t{number}", "turn-1", None, "answered"))
        tell(engine, threads=frozenset({KEY}))
        assert places.find("default", "f1") is None
        assert places.find("default", "f2") is not None
        engine.engine.brain.changes.tell(EVERYTHING)
        assert places.find("default", "f2") is None
        places.keep("default", DoorPlace("f1", "t1", "turn-1", None, "answered"))
        assert places.find("default", "f1") is not None


async def test_the_model_is_told_of_what_ended_on_another_replica(model: ModelServer) -> None:
    async with live(model) as engine:
        brain, now = engine.engine.brain, now_ms()
        await engine.execute("hi")
        begun = BackgroundRow(
            runtime_task_id="bg_1", turn_id="", tool_call_id="", work="bash", description="x", started_at=now
        )
        end = BackgroundEndRow(runtime_task_id="bg_1", status="completed", ended_at=now, exit_code=0)
        renamed = TaskLifecycle(phase="renamed", title="x")
        await brain.append(KEY, None, [renamed], rows=[begun])
        await brain.append(KEY, None, [renamed], rows=[end])
        tell(engine, "background_tasks", threads=frozenset({KEY}))
        await engine.execute("and now?")
        assert "bg_1" in str(model.calls[-1].body["messages"])


async def test_a_call_whose_turn_ended_elsewhere_is_given_up(model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    async with serving(asking()) as url:
        (tmp_path / "mcp" / "ask.json").write_text(json.dumps({"url": url, "policy": {"*": "allow"}}))
        async with live(model, catalog_dir=tmp_path) as engine:
            assert (await engine.http.post("/assets/connect", json={"server_name": "ask"})).is_success
            model.enqueue(Reply([ToolCall("ask.paint", {}, id="c1")]))
            async with engine.executing("paint") as stream:
                asked = await stream.until("thread_lifecycle", phase="suspended")
            directory = engine.engine.assets
            assert directory.calling("default") == {("default", asked.data["turn_id"])}
            end = ThreadLifecycle(phase=Phase.CANCELLED, stop_reason="cancelled")
            await engine.engine.brain.append(KEY, asked.data["turn_id"], [end])
            tell(engine, threads=frozenset({KEY}))
            async with asyncio.timeout(5):
                while directory.calling():
                    await asyncio.sleep(0.01)


async def test_agents_are_never_kept_in_memory(model: ModelServer) -> None:
    async with live(model) as engine:
        agent = Agent(name="reader", description="Reads.", system_prompt="You read.")
        await engine.http.get("/agents")
        row = AgentRow(user_id="default", name="reader", body=encode(agent), updated_at=now_ms())
        await engine.engine.brain.put(row)
        assert "reader" in (await engine.http.get("/agents")).text


async def test_a_reading_is_made_again_until_it_succeeds_and_when_asked_meanwhile() -> None:
    made: list[int] = []
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        made.append(len(made))
        reached.set()
        await go_on.wait()
        if len(made) == 1:
            raise OSError("the database is away")

    reading = Reading("something", read)
    reading.ask()
    await reached.wait()
    reading.ask()
    go_on.set()
    async with asyncio.timeout(5):
        while len(made) < 2:
            await asyncio.sleep(0.01)
    await reading.close()
    assert made == [0, 1]
