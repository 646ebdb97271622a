"""An engine with commands behind its turns that end when a test says so."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, Seen, live
from tests.work.places import Place

GO_ON = "Nobody has said anything since"


def bash(command: str, call_id: str = "b1", **more: Any) -> ToolCall:
    return ToolCall("bash", {"command": command, "run_in_background": True, **more}, id=call_id)


def begins(*calls: ToolCall, then: Sequence[Rule] = ()) -> list[Rule]:
    """The person says "go" and the model begins these; what comes after is up to `then`."""
    return [
        *then,
        Rule(Reply([Text("Begun.")]), match="^go", tool=calls[-1].name),
        Rule(Reply(list(calls)), match="^go", round=0),
        Rule(Reply([Text("Yes.")])),
    ]


class Bench:
    def __init__(self, engine: Live, model: ModelServer, gates: Path) -> None:
        self.engine = engine
        self.http = engine.http
        self.model = model
        self._gates = gates

    def until(self, gate: str) -> str:
        """Shell text that waits for a gate to be opened."""
        return f"until [ -e {self._gates / gate} ]; do sleep 0.02; done"

    def open(self, gate: str) -> None:
        (self._gates / gate).touch()

    async def begun(self, *calls: ToolCall, then: Sequence[Rule] = ()) -> list[str]:
        """Have things begun in a turn; their ids."""
        self.model.script(begins(*calls, then=then))
        frames = await self.engine.execute("go")
        found = {result["tool_call_id"]: result["data"] for result in events(frames, "tool_result")}
        return [found[call.id or ""].get("id") or found[call.id or ""]["task_id"] for call in calls]

    async def task(self, runtime_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/runtime/{runtime_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def reaches(self, runtime_id: str, *wanted: str) -> dict[str, Any]:
        """The task as soon as it has one of these statuses."""
        async with asyncio.timeout(20):
            while (found := await self.task(runtime_id))["status"] not in wanted:
                await asyncio.sleep(0.02)
        return found

    async def listed(self, **params: Any) -> list[str]:
        answer = await self.http.get("/runtime", params=params)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["tasks"]]

    async def turns(self, task_id: str = "t1") -> list[dict[str, Any]]:
        return (await self.http.get(f"/tasks/{task_id}")).json()["turns"]

    async def thread(self, kind: str, task_id: str = "t1") -> list[dict[str, Any]]:
        return events(await self.engine.replay(task_id=task_id, after_seq=0), kind)

    async def ended(self, count: int, task_id: str = "t1") -> list[dict[str, Any]]:
        """The turns of a task as soon as there are so many and none runs."""
        async with asyncio.timeout(20):
            while True:
                found = await self.turns(task_id)
                if len(found) >= count and all(turn["status"] not in ("running", "suspended") for turn in found):
                    return found
                await asyncio.sleep(0.02)


def notices(frames: Sequence[Seen]) -> list[dict[str, Any]]:
    """What the engine said to the model."""
    return [said for said in events(list(frames), "user_message") if said.get("origin") == "engine"]


def words(notice: dict[str, Any]) -> str:
    return notice["content"][0]["text"]


@asynccontextmanager
async def bench(place: Place, gates: Path, **settings: Any) -> AsyncGenerator[Bench]:
    async with ModelServer() as model, live(model, **place.settings, **settings) as engine:
        yield Bench(engine, model, gates)
