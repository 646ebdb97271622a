"""Homes for the program: an empty one, and one where an engine is being served."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.cli.program import Home
from tests.process import free_port


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Nothing runs here yet."""
    return Home(tmp_path, free_port())


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """An engine without a model (the built-in script answers) runs here."""
    home = Home(tmp_path_factory.mktemp("served"), free_port())
    with home.start("serve", env={"ENGINE_LOG_LEVEL": "WARNING"}) as process:
        try:
            wait_until_healthy(home.url)
            yield home
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert process.returncode == 0


def wait_until_healthy(url: str) -> None:
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=50), timeout=20) as client:
        assert client.get(f"{url}/health").status_code == 200
