"""Recovery across kill -9: what was decided before the engine died holds after it, counters included."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.testing import Answer, Failure, Hold, ModelServer, Reply, Text
from tests.live import parse
from tests.process import engine

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


async def killed_in_the_second_call(
    directory: Path, first: Answer, **body: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the model was asked in three calls, and the thread, when the engine dies during the second."""
    async with ModelServer() as model:
        host = engine(directory, model.url)
        await host.up()
        try:
            model.enqueue(first, Reply([Text("half a second answer "), Hold()]))
            async with httpx2.AsyncClient(base_url=host.url, trust_env=False, timeout=30) as http:
                order = {"message": "go", "task_id": "t1", **body}
                async with http.stream("POST", "/execute", json=order) as response:
                    async for line in response.aiter_lines():
                        if "text_delta" in line and "answer" in line:
                            break
                    await host.kill()
                model.enqueue(Reply([Text("whole")]))
                await host.up()
                thread = await http.get("/execute/replay", params={"task_id": "t1"})
        finally:
            await host.kill()
        frames = [parse(raw + b"\n\n").data for raw in thread.content.split(b"\n\n") if raw]
        return [call.body for call in model.calls], frames


@pytest.mark.timeout(60)
async def test_an_answer_that_was_cut_off(tmp_path: Path) -> None:
    cut = Reply([Text("half")], stop_reason="max_tokens")
    (first, second, third), frames = await killed_in_the_second_call(tmp_path, cut)
    assert first["max_tokens"] < second["max_tokens"] == third["max_tokens"]
    assert first["messages"] == second["messages"] == third["messages"]
    assert [frame["reason"] for frame in frames if frame["type"] == "recovery"] == ["max_tokens", "restart"]
    assert sum(frame["type"] == "turn_transition" for frame in frames) == 1
    assert frames[-1]["stop_reason"] == "end_turn"


@pytest.mark.timeout(60)
async def test_an_image_that_was_refused(tmp_path: Path) -> None:
    refused = Failure(400, message="image input is not supported")
    (first, second, third), frames = await killed_in_the_second_call(tmp_path, refused, media=[IMAGE])
    assert "image_url" in json.dumps(first)
    assert "image_url" not in json.dumps(second)
    assert second["messages"] == third["messages"]
    assert sum(frame["type"] == "media_notice" for frame in frames) == 1
    assert frames[-1]["phase"] == "completed"
