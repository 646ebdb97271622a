"""A catalog with a workflow in it, a model that is told what to say, and what is asked of runs."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer
from tests.live import Live

REVIEW: dict[str, Any] = {
    "name": "review",
    "description": "Review files, then sum up.",
    "args": {
        "type": "object",
        "properties": {"files": {"type": "array", "items": {"type": "string"}}},
        "required": ["files"],
        "additionalProperties": False,
    },
    "steps": [
        {"do": "phase", "title": "Review"},
        {
            "do": "parallel",
            "over": "{{args.files}}",
            "item": "file",
            "each": {"do": "agent", "prompt": "Review {{file}}", "label": "review {{file}}"},
            "as": "reviews",
        },
        {"do": "phase", "title": "Sum up"},
        {"do": "log", "message": "all reviewed"},
        {"do": "agent", "prompt": "Sum up: {{reviews}}", "label": "sum up", "as": "summary"},
    ],
    "result": {"summary": "{{summary}}", "reviews": "{{reviews}}"},
}


def declare(root: Path, *workflows: dict[str, Any]) -> Path:
    """Put workflows into a catalog."""
    place = root / "catalog" / "workflows"
    place.mkdir(parents=True, exist_ok=True)
    for workflow in workflows:
        (place / f"{workflow['name']}.json").write_text(json.dumps(workflow))
    return root / "catalog"


def flow(*steps: dict[str, Any], name: str = "flow", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "A flow.", "steps": list(steps), **more}


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    return {"do": "agent", "prompt": prompt, "label": prompt.split()[0], **more}


async def start(engine: Live, name: str = "review", **body: Any) -> dict[str, Any]:
    answer = await engine.http.post(f"/workflows/{name}/runs", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


async def resume(engine: Live, run: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = await engine.http.post(f"/workflows/runs/{run['run_id']}/resume", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


async def ended(engine: Live, run: dict[str, Any]) -> dict[str, Any]:
    """The run, when it has ended and the turn that ran it too."""
    while True:
        found = (await engine.http.get(f"/workflows/runs/{run['run_id']}")).json()
        task = (await engine.http.get(f"/tasks/{found['task_id']}")).json()
        if found["status"] != "running" and task["status"] == "idle":
            return found
        await asyncio.sleep(0.02)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
