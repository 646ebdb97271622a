"""A model server that does what it is told, and a catalog with the servers a test names."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def catalog(tmp_path: Path) -> Callable[..., Path]:
    """Write servers into a catalog: `catalog(name={...})`."""

    def write(**servers: dict[str, Any]) -> Path:
        place = tmp_path / "catalog"
        (place / "mcp").mkdir(parents=True, exist_ok=True)
        for name, server in servers.items():
            (place / "mcp" / f"{name}.json").write_text(json.dumps(server))
        return place

    return write
