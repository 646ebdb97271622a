"""What all tests share: options, and an engine that runs as a process of its own beside a scripted model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.process import Process, engine, model


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos-kills", type=int, default=12, help="how often the chaos test kills the engine")
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
