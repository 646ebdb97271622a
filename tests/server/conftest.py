"""A model server and an engine that asks it, both real, both on loopback, shared by the tests of a module.

Every test works on tasks of its own; the tests of a module run on one event loop because the engine does.
"""

from collections.abc import AsyncIterator
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
import pytest_asyncio

from aster.infra.ids import new_id
from aster.testing import ModelServer
from tests.live import Live, live

KEY = "test-engine-key"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        ours = item.path.is_relative_to(Path(__file__).parent)
        if ours and isinstance(item, pytest.Function) and iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, engine_api_key=KEY) as running:
        yield running


@pytest.fixture
def task() -> str:
    return new_id("task")
