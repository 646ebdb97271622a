"""What all tests share: options, and an engine that runs as a process of its own beside a scripted model."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.process import Process, engine, model


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos-kills", type=int, default=12, help="how often the chaos test kills the engine")
    parser.addoption("--chaos-faults", type=int, default=7, help="how often something of the cluster fails")
    parser.addoption(
        "--chaos-turns", type=int, default=40, help="how many turns the cluster runs meanwhile, at least"
    )
    parser.addoption("--chaos-seed", type=int, default=0, help="0 picks one and prints it")


@pytest.fixture
async def upstream(tmp_path: Path) -> AsyncIterator[Process]:
    process = model(tmp_path)
    await process.up()
    yield process
    await process.stop()


@pytest.fixture
async def host(tmp_path: Path, upstream: Process) -> AsyncIterator[Process]:
    process = engine(tmp_path, upstream.url)
    await process.up()
    yield process
    await process.kill()


@pytest.fixture
def database_url() -> Iterator[str]:
    """A database of its own on a real PostgreSQL."""
    from tests.postgres import server

    url = server().fresh()
    yield url
    server().drop(url)


@pytest.fixture
def clean_url() -> Iterator[str]:
    """A database without rows on a real PostgreSQL, for a test that leaves its tables as they are."""
    from tests.postgres import server

    url = server().clean()
    yield url
    server().give_back(url)
