"""Real MCP servers from the package registries, installed once into a directory that every user can read.

Programs of the sandbox run as another user than root, so neither the virtual environment nor a home will do.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aster.testing import ModelServer

HERE = Path(__file__).parent


class Installed(NamedTuple):
    """Where the servers are, and which Python runs those that are written in it."""

    place: Path
    python: str

    @property
    def node_modules(self) -> Path:
        return self.place / "node_modules"


@pytest.fixture(scope="session")
def installed() -> Installed:
    files = [HERE / "requirements.txt", HERE / "node" / "package.json", HERE / "node" / "package-lock.json"]
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    place = Path(tempfile.gettempdir()) / f"aster-connectors-{os.getuid()}-{wanted}"
    if not (place / "done").exists():
        place.mkdir(exist_ok=True)
        place.chmod(0o755)
        _installed(place)
        (place / "done").touch()
    python = sys.executable if os.getuid() else f"/usr/bin/python3.{sys.version_info.minor}"
    return Installed(place, python)


def _installed(place: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*pip, "--target", str(place / "python"), "-r", str(HERE / "requirements.txt")], check=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "node" / name, place)
    subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=place, check=True)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
