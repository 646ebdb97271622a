"""A model server that does what it is told, and an engine in front of it with the real sandbox."""

from collections.abc import AsyncIterator

import pytest

from aster.testing import ModelServer
from tests.live import Live, live


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, sandbox="auto") as engine:
        yield engine
