"""A real sandbox and a real workspace for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.infra.settings import Settings, load
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"SQLITE_DB_PATH": str(tmp_path / "data" / "brain.sqlite")}, None)


@pytest.fixture
async def sandbox(settings: Settings) -> AsyncIterator[Sandbox]:
    sandbox = await choose(settings)
    assert sandbox.report.ok, sandbox.report
    yield sandbox
    sandbox.close()


@pytest.fixture
async def workspace(settings: Settings, sandbox: Sandbox) -> Workspace:
    return await Workspaces(settings, sandbox).of("local", "t1")
