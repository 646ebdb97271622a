"""A model server and an engine that asks it, both real, both on loopback."""

from collections.abc import AsyncIterator

import pytest

from aster.testing import ModelServer
from tests.live import Live, live

KEY = "test-engine-key"


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def engine(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, engine_api_key=KEY) as running:
        yield running
