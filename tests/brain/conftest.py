"""A real brain for every test: each runs on a file and on PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.protocol import Brain
from aster.brain.sqlite.brain import SqliteBrain


@pytest.fixture(params=["sqlite", "postgres"])
async def brain(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Brain]:
    if request.param == "sqlite":
        brain = SqliteBrain(tmp_path / "brain.sqlite")
    else:
        brain = PostgresBrain(request.getfixturevalue("clean_url"), readers=2)
    await brain.start()
    yield brain
    await brain.close()


@pytest.fixture
async def file_brain(tmp_path: Path) -> AsyncIterator[SqliteBrain]:
    """For what only a file has."""
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    yield brain
    await brain.close()
