"""Replicas: two brains of one database."""

from collections.abc import AsyncIterator

import pytest

from aster.brain.postgres.brain import PostgresBrain


@pytest.fixture
async def a(clean_url: str) -> AsyncIterator[PostgresBrain]:
    brain = PostgresBrain(clean_url, readers=2)
    await brain.start()
    yield brain
    await brain.close()


@pytest.fixture
async def b(clean_url: str) -> AsyncIterator[PostgresBrain]:
    brain = PostgresBrain(clean_url, readers=2)
    await brain.start()
    yield brain
    await brain.close()
