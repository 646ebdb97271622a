"""What is changed on one replica holds on all of them within a second, and what one keeps is seen by the others."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.fernet import Fernet

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.records import KeyRow, QuotaRow
from aster.infra.clock import now_ms
from aster.server.auth import hash_key
from aster.testing import ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.asset_directory.server import made, serving
from tests.cluster.replicas import Replica, replicas, soon
from tests.sandbox.processes import alive, sleeper, token

COST = 0.04
"""Of one call, in USD; before it is made it may be about 0.05."""


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def names(replica: Replica, path: str, *way: str, name: str = "name") -> set[str]:
    found: Any = (await replica.http.get(path)).json()
    for step in way:
        found = found[step]
    return {one[name] for one in found}


async def test_what_is_changed_on_one_replica_holds_on_the_other(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    tools = tmp_path / "catalog" / "tools"
    tools.mkdir(parents=True)
    async with replicas(tmp_path, model.url, database_url, CATALOG_DIR=str(tools.parent)) as (a, b):
        assert "tidy" not in await names(b, "/skills", "skills")
        agent = {"description": "Reads.", "system_prompt": "You read."}
        skill = {"name": "tidy", "description": "Tidies up.", "prompt": "Tidy up."}
        assert (await a.http.put("/agents/reader", json=agent)).is_success
        assert (await a.http.post("/skills/create", json=skill)).is_success
        assert (await a.http.put("/usage/budgets/user", json={"limit_usd": 3.5})).is_success
        granted = await a.http.post("/permissions", json={"tool": "bash", "pattern": "make *"})
        assert granted.is_success
        declared = {
            "name": "log",
            "description": "Show the newest commits.",
            "input_schema": {"type": "object", "properties": {}},
            "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo log"}},
        }
        (tools / "log.json").write_text(json.dumps(declared))
        assert (await a.http.post("/admin/reload-catalog")).json()["tools"] == ["log"]

        async def limits() -> list[float | None]:
            return [row["limit_usd"] for row in (await b.http.get("/usage/budgets")).json()["budgets"]]

        async def all_there() -> bool:
            offered = {tool["definition"]["name"] for tool in (await b.http.get("/tools")).json()["tools"]}
            return (
                "reader" in await names(b, "/agents", "agents")
                and "tidy" in await names(b, "/skills", "skills")
                and 3.5 in await limits()
                and "make *" in await names(b, "/permissions", "grants", name="pattern")
                and "log" in offered
            )

        await soon(all_there)
        assert (await a.http.delete("/agents/reader")).is_success
        assert (await a.http.delete("/skills/tidy")).is_success
        assert (await a.http.delete("/usage/budgets/user")).is_success
        assert (await a.http.delete(f"/permissions/{granted.json()['grant_id']}")).is_success

        async def all_gone() -> bool:
            return (
                "reader" not in await names(b, "/agents", "agents")
                and "tidy" not in await names(b, "/skills", "skills")
                and 3.5 not in await limits()
                and not await names(b, "/permissions", "grants", name="pattern")
            )

        await soon(all_gone)


async def test_keys_and_limits_of_providers_are_known_everywhere(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, model.url, database_url) as pair:
        third = PostgresBrain(database_url)
        await third.start()
        key = KeyRow(key_id="k1", user_id="ada", name="ada", key_hash=hash_key("ak-ada"), created_at=now_ms())

        async def admitted(replica: Replica) -> bool:
            asked = await replica.http.get("/tasks", headers={"X-Engine-Key": "ak-ada"})
            return asked.is_success

        for replica in pair:
            assert not await admitted(replica)
        await third.put(key)
        for replica in pair:
            await soon(lambda: admitted(replica), 0.9)  # noqa: B023
        await third.put(msgspec.structs.replace(key, revoked_at=now_ms()))

        async def refused() -> bool:
            return not (await admitted(pair[0]) or await admitted(pair[1]))

        await soon(refused, 0.9)

        async def limited() -> bool:
            seen = [one for replica in pair for one in _endpoints((await replica.http.get("/health")).json())]
            return len(seen) == 2 and all(one["rate_limited"] for one in seen)

        known = await _window(pair[0], third, model)
        assert not await limited()
        now = now_ms()
        await third.put(msgspec.structs.replace(known, name="retry", capacity=1, remaining=0, seen_at=now))
        await soon(limited)
        await third.close()


def _endpoints(health: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in health["subsystems"].values():
        found += part.get("endpoints", [])
    return found


async def _window(replica: Replica, brain: PostgresBrain, model: ModelServer) -> QuotaRow:
    """What a replica keeps of the model server's limits after an answer that tells them."""
    limits = {
        "x-ratelimit-remaining-requests": "9",
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-reset-requests": "1m",
    }
    model.enqueue(Reply([Text("hi")], headers=limits))
    await replica.execute("hi", "q1")
    rows: list[QuotaRow] = []

    async def kept() -> bool:
        rows[:] = await brain.quota_windows()
        return bool(rows)

    await soon(kept)
    return rows[0]


async def test_a_budget_holds_over_all_replicas(model: ModelServer, database_url: str, tmp_path: Path) -> None:
    """Thirty turns at once on three replicas, and money for ten calls."""
    model.script(
        [Rule(Reply([Text("done")], usage=Usage(input=round(COST / 2.5 * 1_000_000)), first_byte_delay=0.2))]
    )
    settings = {"LLM_MODEL": "gpt-4o", "BUDGET_USER_DAY_USD": str(COST * 10 + 0.02)}
    async with replicas(tmp_path, model.url, database_url, 3, **settings) as all_three:
        turns = [all_three[at % 3].execute("hi", f"t{at}") for at in range(30)]
        await asyncio.gather(*turns)
        spent = (await all_three[0].http.get("/usage")).json()["total"]
        assert len(model.calls) == spent["calls"]
        assert 8 <= spent["calls"] <= 10
        assert spent["cost_usd"] <= COST * 10 + 0.02


async def test_a_background_command_is_read_and_ended_from_another_replica(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    mark = token()
    async with replicas(tmp_path, upstream.url, database_url) as (a, b):
        command = f"echo one; {sleeper(mark)}"
        started = await a.call("bash", "t1", command=command, run_in_background=True)
        name = started["data"]["id"]
        assert alive(mark)
        read = await b.call("bash_output", "t1", id=name, wait_seconds=1.5)
        assert read["data"]["status"] == "running"
        assert "one" in read["output"]
        again = await b.call("bash_output", "t1", id=name)
        assert "nothing new" in again["output"]
        killed = await b.call("bash_kill", "t1", id=name)
        assert killed["data"]["status"] == "killed"
        assert not alive(mark)
        whole = await b.call("bash_output", "t1", id=name, offset=0)
        assert "one" in whole["output"]
        second = await a.call("bash", "t1", command=command, run_in_background=True)
        assert alive(mark)
        assert (await b.http.delete("/tasks/t1")).is_success, second
        assert not alive(mark)


async def test_an_agent_in_the_background_is_asked_after_and_told_of_on_another_replica(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url) as (a, b):
        started = await a.call("spawn_agent", "t1", prompt="Look around.", background=True)

        async def ended() -> bool:
            return '"phase":"completed"' in await _replayed(b, "subagent_lifecycle")

        await soon(ended, 10.0)
        told = await b.execute("[[text=3]] And now?", "t1")
        words = [frame.data["content"][0]["text"] for frame in told if frame.event == "user_message"]
        assert any("has ended: completed" in text for text in words)
        shown = await b.call("agent_output", "t1", id=started["data"]["task_id"])
        assert shown["data"]["status"] == "completed"


async def _replayed(replica: Replica, event: str) -> str:
    """The frames of one kind on a task's thread, as any replica tells them."""
    said = (await replica.http.get("/execute/replay", params={"task_id": "t1"})).text
    return "\n".join(frame for frame in said.split("\n\n") if f"event: {event}\n" in frame)


async def test_what_ran_behind_a_replica_that_died_is_lost_and_its_output_is_kept(
    upstream: Any, database_url: str, tmp_path: Path
) -> None:
    mark = token()
    async with replicas(tmp_path, upstream.url, database_url) as (a, b):
        started = await a.call("bash", "t1", command=f"echo one; {sleeper(mark)}", run_in_background=True)
        name = started["data"]["id"]
        read = await b.call("bash_output", "t1", id=name, wait_seconds=1.5)
        assert read["data"]["status"] == "running"
        await a.process.kill()

        async def told() -> int:
            said = (await b.http.get("/execute/replay", params={"task_id": "t1"})).text
            return sum(
                '"status":"lost"' in frame for frame in said.split("\n\n") if "event: background_task" in frame
            )

        async def lost() -> bool:
            return await told() > 0

        await soon(lost, 10.0)
        kept = await b.call("bash_output", "t1", id=name, offset=0)
        assert kept["data"]["status"] == "lost"
        assert "one" in kept["output"]
        assert await told() == 1


async def test_a_connection_made_or_ended_on_one_replica_is_so_on_the_other(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "catalog" / "mcp").mkdir(parents=True)
    settings = {"CATALOG_DIR": str(tmp_path / "catalog"), "AD_ENCRYPTION_KEY": Fernet.generate_key().decode()}
    async with serving(made()) as url:
        server = {"url": url, "policy": {"*": "allow"}}
        (tmp_path / "catalog" / "mcp" / "fix.json").write_text(json.dumps(server))
        async with replicas(tmp_path, model.url, database_url, 2, **settings) as (a, b):
            assert (await b.http.get("/assets/connections")).json() == []
            connected = await a.http.post("/assets/connect", json={"server_name": "fix"})
            assert connected.status_code == 200, connected.text

            async def offered() -> bool:
                return "fix.add" in {
                    tool["definition"]["name"] for tool in (await b.http.get("/tools")).json()["tools"]
                }

            await soon(offered)
            model.enqueue(Reply([ToolCall("fix.add", {"a": 2, "b": 3}, id="c1")]), Reply([Text("five")]))
            frames = await b.execute("add", "t1")
            assert [frame.data["output"] for frame in frames if frame.event == "tool_result"] == ["5"]
            gone = await a.http.delete(f"/assets/connections/{connected.json()['ref_id']}")
            assert gone.status_code == 200

            async def not_offered() -> bool:
                return not await offered() and (await b.http.get("/assets/connections")).json() == []

            await soon(not_offered)
