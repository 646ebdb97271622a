"""A hundred recorded turns that did everything a turn can do, replayed: nothing is done again."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.asset_directory.server import serving
from tests.engine_core.frames import last
from tests.engine_core.hooks import sample
from tests.engine_core.replaying.stage import playing, replayed, thread
from tests.live import Live, live

TURNS = 100
EVERY_KIND = 5
"""So many of the turns do all there is; the others count and write."""
HOOKED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")


def plan(number: int) -> list[ToolCall]:
    light = [
        ToolCall("tally", {"word": f"n{number}"}),
        ToolCall("write_file", {"path": f"f{number}.txt", "content": f"{number}"}),
    ]
    if number >= EVERY_KIND:
        return light
    return [
        *light,
        ToolCall("bash", {"command": f"echo {number} >> bash.txt"}),
        ToolCall("shop.order", {"what": f"thing {number}"}),
        ToolCall("memory_write", {"kind": "fact", "content": f"Number {number} likes herons."}),
        ToolCall("ask_user", {"question": f"Which colour for {number}?"}),
        ToolCall("spawn_agent", {"prompt": f"work {number}"}),
        ToolCall("read_file", {"path": "missing.txt"}),
    ]


class World:
    """What would show a trace."""

    def __init__(self, engine: Live, workspace: Path, orders: list[str]) -> None:
        self.engine, self._workspace, self._orders = engine, workspace, orders

    async def seen(self) -> dict[str, Any]:
        get = self.engine.http.get
        files = {
            str(path.relative_to(self._workspace)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self._workspace.rglob("*"))
            if path.is_file()
        }
        metrics = (await get("/metrics")).text.splitlines()
        return {
            "files": files,
            "orders": list(self._orders),
            "hooks": len(sample.SEEN),
            "memory": (await get("/memory/export")).json()["records"],
            "permissions": (await get("/permissions")).json(),
            "pending": (await get("/hitl/pending")).json(),
            "feedback": (await get("/feedback")).json(),
            "tasks": [one["task_id"] for one in (await get("/tasks", params={"limit": 500})).json()["tasks"]],
            "tools": sorted(line for line in metrics if line.startswith("aster_tool")),
        }


@asynccontextmanager
async def staged(tmp_path: Path) -> AsyncIterator[tuple[ModelServer, World]]:
    """An engine with everything that leaves traces; all of it allowed."""
    orders: list[str] = []
    shop = MCPServer("shop", version="1.0")

    @shop.tool()
    def order(what: str) -> str:
        """Orders something."""
        orders.append(what)
        return f"ordered {what}"

    catalog, workspace = tmp_path / "catalog", tmp_path / "workspace"
    for place in (catalog / "tools", catalog / "mcp", workspace):
        place.mkdir(parents=True)
    tally = {
        "name": "tally",
        "description": "Counts a word.",
        "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo {word} >> tally.txt"}},
    }
    (catalog / "tools" / "tally.json").write_text(json.dumps(tally))
    hooks = {event: [{"python": "tests.engine_core.hooks.sample:remember"}] for event in HOOKED}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    sample.SEEN.clear()
    async with serving(shop) as url, ModelServer() as model:
        (catalog / "mcp" / "shop.json").write_text(json.dumps({"url": url, "policy": {"*": "allow"}}))
        async with live(
            model,
            catalog_dir=catalog,
            hooks_path=tmp_path / "hooks.json",
            allowed_roots=str(workspace),
            permission_bypass_allowed=True,
            permission_mode="bypass",
        ) as engine:
            assert (await engine.http.post("/assets/connect", json={"server_name": "shop"})).status_code == 200
            yield model, World(engine, workspace, orders)


async def record(engine: Live, number: int) -> None:
    """Run a turn, and answer what it asks."""
    async with engine.executing(f"turn {number}", f"t{number}") as stream:
        async for frame in stream:
            if frame.event == "hitl_request":
                await engine.http.post(
                    "/hitl/respond", json={"request_id": frame.data["request_id"], "answer": "blue"}
                )
        assert last(stream.seen)["phase"] == "completed", stream.seen[-3:]


def script(changed: Callable[[int], list[ToolCall]] = plan) -> list[Any]:
    return [Rule(Reply([Text("The work is done.")]), match=r"^work \d+"), playing(changed)]


async def test_a_hundred_turns_are_replayed_and_nothing_happens(tmp_path: Path) -> None:
    async with staged(tmp_path) as (model, world):
        engine = world.engine
        model.script(script())
        for number in range(TURNS):
            await record(engine, number)
        before = await world.seen()
        assert len(before["files"]["tally.txt"][0].split()) == TURNS
        assert (len(before["orders"]), before["hooks"] > TURNS) == (EVERY_KIND, True)
        for number in range(TURNS):
            report = await replayed(engine, f"t{number}")
            assert (report["same"], report["divergence"], report["diff"]) == (True, None, "")
            assert report["replayed"]["calls"] == len(plan(number))
            assert report["replayed"]["unrecorded"] == 0
        assert await world.seen() == before

        def other(number: int) -> list[ToolCall]:
            return [*plan(number)[:1], ToolCall("bash", {"command": "echo again >> bash.txt"}), *plan(number)[1:]]

        model.script(script(other))
        for number in range(EVERY_KIND):
            report = await replayed(engine, f"t{number}")
            asked = [one for one in await thread(engine, f"t{number}") if one["type"] == "content_block_stop"]
            assert report["divergence"]["kind"] == "call"
            assert (report["divergence"]["step"], report["divergence"]["source_seq"]) == (2, asked[1]["seq"])
            assert report["replayed"]["unrecorded"] == 1
        after = await world.seen()
        refused = {line for line in after.pop("tools") if line not in before["tools"]}
        assert all('reason="not_recorded"' in line or 'tool="bash"' in line for line in refused)
        del before["tools"]
        assert after == before
