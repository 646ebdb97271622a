"""An engine without memory: the same models are asked by every test, and nothing but their own words comes back."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aster.testing import ModelServer
from tests.live import Live, live
from tests.server.conftest import KEY


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, engine_api_key=KEY, memory_enabled=False) as running:
        yield running
