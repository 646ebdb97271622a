"""A trial whose engine is killed goes on with the next: no arm of a turn is replayed twice, and what it comes to is
remembered once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.learning_centre.night import Night
from tests.learning_centre.test_trials import HELPFUL, LESSONS, answers
from tests.process import Process, engine

KEY = {"X-Engine-Key": "trial-key"}


@pytest.fixture
async def night() -> AsyncIterator[Night]:
    made = Night()
    made.lessons = LESSONS
    async with made.server:
        yield made


class Killer:
    """Says when the model has been asked so many times since it was set."""

    def __init__(self, night: Night) -> None:
        self.left = 0
        self.now = asyncio.Event()
        night.answers = self._answers

    def after(self, calls: int) -> None:
        self.left = calls
        self.now.clear()

    def _answers(self, message: str, prompt: str) -> str | None:
        self.left -= 1
        if self.left == 0:
            self.now.set()
        return answers(message, prompt)


async def asked(process: Process, method: str, path: str, body: Any = None) -> Any:
    async with httpx2.AsyncClient(base_url=process.url, headers=KEY, timeout=30, trust_env=False) as http:
        answer = await http.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.text


async def test_a_trial_survives_being_killed_again_and_again(night: Night, tmp_path: Path) -> None:
    process = engine(
        tmp_path,
        night.server.url,
        ENGINE_API_KEY=KEY["X-Engine-Key"],
        LLM_POOL_WORKER=f"{night.server.url}/v1|worker",
        EMBEDDINGS_PROVIDER="off",
        TASK_TITLES="false",
        SANDBOX="off",
        VERIFIER="off",
        LC_IDLE_SECONDS="3600",
    )
    killer = Killer(night)
    await process.up()
    try:
        for number in range(4):
            text = f"How do I install the packages of project {number}?"
            said = await asked(process, "POST", "/execute", {"message": text, "task_id": f"p{number}"})
            turn_id = said.split('"turn_id":"', 1)[1].split('"', 1)[0]
            signal = {"task_id": f"p{number}", "turn_id": turn_id, "rating": -1, "correction": "Run uv add now."}
            await asked(process, "POST", "/feedback", signal)
        await asked(process, "POST", "/execute", {"message": f"From now on {HELPFUL} please.", "task_id": "told"})
        await asked(process, "POST", "/learning/run", {"works": ["batch"]})
        for calls in (1, 2, 3):
            killer.after(calls)
            with contextlib.suppress(httpx2.HTTPError):
                await asked(process, "POST", "/learning/run", {"works": ["trials"], "wait": False})
            async with asyncio.timeout(30):
                await killer.now.wait()
            await process.kill()
            await process.up()
        await asked(process, "POST", "/learning/run", {"works": ["trials"]})
        (trial,) = (await asked(process, "GET", "/learning/trials"))["trials"]
        assert trial["status"] == "promoted", trial
        runs = (await asked(process, "GET", f"/learning/trials/{trial['trial_id']}"))["runs"]
        assert len(runs) == 2 * trial["turns"] == len({(run["turn_id"], run["arm"]) for run in runs})
        for number in range(4):
            replays = (await asked(process, "GET", f"/tasks/p{number}/replays"))["replays"]
            assert len(replays) <= 2
        kept = (await asked(process, "GET", "/memory/records?store=lessons"))["records"]
        assert [record["trigger"] for record in kept] == ["install packages"]
        assert kept[0]["frequency"] == 1
        promotions = (await asked(process, "GET", "/learning/changesets?kind=trial"))["changesets"]
        assert [one["status"] for one in promotions] == ["applied"]
    finally:
        await process.kill()
