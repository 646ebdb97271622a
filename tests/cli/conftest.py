"""Homes for the program: an empty one, and one where an engine is being served."""

import subprocess
import time
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
            wait_until_healthy(process, home.url)
            yield home
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert process.returncode == 0


def wait_until_healthy(process: subprocess.Popen[str], url: str) -> None:
    """Ask until the engine answers; a process that has ended never will."""
    with httpx2.Client(timeout=20, trust_env=False) as client:
        while process.poll() is None:
            try:
                assert client.get(f"{url}/health").status_code == 200
            except httpx2.ConnectError:
                time.sleep(0.02)
            else:
                return
    raise AssertionError(f"the engine did not start: {process.communicate()}")
