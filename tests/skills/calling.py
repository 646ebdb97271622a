"""What tests of skills have in common: folders, an engine, and one call in a turn."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, Seen, text_of
from tests.live import live as whole


def folder(root: Path, name: str, text: str, **files: str) -> None:
    place = root / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(text)
    for file, data in files.items():
        (place / file.replace("__", ".")).write_text(data)


def live(model: ModelServer, **settings: Any) -> AbstractAsyncContextManager[Live]:
    """An engine that does not hold answers against what failed: that is another test's business."""
    return whole(model, verifier="off", **settings)


def system(model: ModelServer, call: int = -1) -> str:
    return model.calls[call].body["messages"][0]["content"]


def results(frames: list[Seen]) -> list[dict[str, Any]]:
    return events(frames, "tool_result")


async def call(engine: Live, model: ModelServer, tool: str, task: str = "t1", **given: Any) -> dict[str, Any]:
    """The result of one call in a turn."""
    model.enqueue(Reply([ToolCall(tool, given)]), Reply([Text("done")]))
    frames = await engine.execute("go", task)
    assert (last(frames)["phase"], text_of(frames)) == ("completed", "done")
    return results(frames)[-1]
