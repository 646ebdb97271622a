"""Every way of isolation that works on this machine, and something to run scripts in one."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from aster.infra.settings import Settings, load
from aster.sandbox.backend import Command, Completed, Sandbox, SandboxReport
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces

NAMED = ("bubblewrap", "landlock", "sandlock", "docker")


def settings_for(directory: Path, **more: str) -> Settings:
    return load({"SQLITE_DB_PATH": str(directory / "data" / "brain.sqlite"), **more}, None)


@cache
def reports() -> dict[str, SandboxReport]:
    """What the probe of each one said."""

    async def look(directory: Path) -> dict[str, SandboxReport]:
        found: dict[str, SandboxReport] = {}
        for name in NAMED:
            sandbox = await choose(settings_for(directory, SANDBOX=name))
            found[name] = sandbox.report
            sandbox.close()
        return found

    with tempfile.TemporaryDirectory(prefix="aster-test-") as directory, ThreadPoolExecutor(1) as apart:
        return apart.submit(lambda: asyncio.run(look(Path(directory)))).result()


def working() -> list[str]:
    return [name for name, report in reports().items() if report.ok]


class Box:
    """Runs scripts in a sandbox."""

    def __init__(self, sandbox: Sandbox, workspace: Workspace) -> None:
        self.sandbox = sandbox
        self.root = workspace.cwd
        self.workspace = workspace

    async def __call__(self, script: str, seconds: float = 20, limits: Limits | None = None) -> Completed:
        return await self.sandbox.run(Command(("/bin/bash", "-c", script), self.workspace, seconds, limits))


@asynccontextmanager
async def boxed(name: str, directory: Path) -> AsyncIterator[Box]:
    settings = settings_for(directory, SANDBOX=name)
    sandbox = await choose(settings)
    try:
        yield Box(sandbox, await Workspaces(settings, sandbox).of("local", "t1"))
    finally:
        sandbox.close()
