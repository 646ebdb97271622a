"""A model server and an engine that asks it, shared by the tests of a module, each on a task of its own."""

from collections.abc import AsyncIterator
from inspect import iscoroutinefunction

import pytest
import pytest_asyncio

from aster.client import AsterClient
from aster.infra.ids import new_id
from aster.testing import ModelServer
from tests.live import Live, live


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        here = item.path.is_relative_to(item.config.rootpath / "tests" / "client")
        if here and isinstance(item, pytest.Function) and iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def client(engine: Live) -> AsyncIterator[AsterClient]:
    async with AsterClient(engine.url) as connected:
        yield connected


@pytest.fixture
def task() -> str:
    return new_id("task")
