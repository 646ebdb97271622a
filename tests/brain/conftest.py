"""A real brain on a real file for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.brain.sqlite.brain import SqliteBrain


@pytest.fixture
async def brain(tmp_path: Path) -> AsyncIterator[SqliteBrain]:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    yield brain
    await brain.close()
