"""A model server that does what it is told."""

from collections.abc import AsyncIterator

import pytest

from aster.testing import ModelServer


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
