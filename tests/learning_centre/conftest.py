"""A model that answers people, a worker model that reads, and an engine with both."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.testing import ModelServer, Reply, Rule, Text
from tests.learning_centre.worker import Worker
from tests.live import Live, live


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker()
    async with made.server:
        yield made


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer([Rule(Reply([Text("All right.")]))]) as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer, worker: Worker, tmp_path: Path) -> AsyncIterator[Live]:
    async with live(
        model,
        llm_pool_worker=f"{worker.server.url}/v1|worker",
        task_titles=False,
        embeddings_provider="off",
        sqlite_db_path=tmp_path / "b.sqlite",
    ) as engine:
        yield engine
