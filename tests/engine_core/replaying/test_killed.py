"""A replay whose engine is killed in the middle: it goes on where it was, ends, and has still done nothing."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from aster.client.client import AsterClient
from tests.process import Process

MESSAGE = '[[text=20 tools=2 tool=bash input={"command":"echo ran >> marks.txt"} hold=middle]] Do it.'


async def post(url: str, path: str, body: dict[str, Any] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:
        return await http.post(path, json=body)


async def test_a_killed_replay_goes_on(host: Process, upstream: Process, tmp_path: Path) -> None:
    marks = tmp_path / "workspaces" / "default" / "t1" / "marks.txt"
    await post(upstream.url, "/_release?name=middle")
    async with AsterClient(host.url, patience=60) as client:
        async for _ in client.execute(MESSAGE, "t1"):
            pass
    assert marks.read_text().split() == ["ran", "ran"]
    await post(upstream.url, "/_reset")
    begun = await post(host.url, "/tasks/t1/replay", {"wait": False, "replay_task_id": "again"})
    assert begun.status_code == 202, begun.text
    async with httpx2.AsyncClient(base_url=host.url, trust_env=False, timeout=30) as http:
        while True:
            seen = (await http.get("/tasks/again/events", params={"limit": 1000})).json()["events"]
            if [one["type"] for one in seen].count("tool_result") == 2 and seen[-1]["type"] == "text_delta":
                break
            await asyncio.sleep(0.02)
    await host.kill()
    await host.up()
    await post(upstream.url, "/_release?name=middle")
    async with httpx2.AsyncClient(base_url=host.url, trust_env=False, timeout=30) as http:
        report = (await http.get("/tasks/t1/replays/again", params={"wait": True})).json()
        seen = (await http.get("/tasks/again/events", params={"limit": 1000})).json()["events"]
        again = await http.post("/tasks/t1/replay", json={"replay_task_id": "again"})
    assert (report["same"], report["status"], report["replayed"]["calls"]) == (True, "ended", 2)
    assert [one["reason"] for one in seen if one["type"] == "recovery"] == ["restart"]
    assert again.json() == report
    assert marks.read_text().split() == ["ran", "ran"]
