"""A catalog directory to write declarations into."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer


class Shelf:
    """`CATALOG_DIR` while a test fills it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = root / "tools"
        self.tools.mkdir(parents=True)

    def put(self, stem: str, **declaration: Any) -> Path:
        """Declare a tool, by default one that shows commits."""
        usual: dict[str, Any] = {
            "name": stem,
            "description": "Show the newest commits.",
            "input_schema": {
                "type": "object",
                "properties": {"count": {"type": "integer", "minimum": 1}},
                "required": ["count"],
            },
            "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo log -n {count}"}},
        }
        return self.write(stem, json.dumps({**usual, **declaration}).encode())

    def bash(self, name: str, command: str, *inputs: str, **more: Any) -> Path:
        """Declare a tool over bash with inputs of text."""
        properties = {one: {"type": "string"} for one in inputs}
        return self.put(
            name,
            input_schema={"type": "object", "properties": properties, "required": list(inputs)},
            implementation={"kind": "platform", "ref": "bash", "arguments": {"command": command}},
            **more,
        )

    def write(self, name: str, data: bytes) -> Path:
        path = self.tools / f"{name}.json"
        path.write_bytes(data)
        return path


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "catalog")


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
