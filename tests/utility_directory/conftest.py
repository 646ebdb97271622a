"""The pipeline as the engine uses it: the platform's tools, a real sandbox, a real workspace."""

import ctypes
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.tools import ToolCall, ToolOutcome
from aster.infra.settings import Settings, load
from aster.sandbox.permissions import Decision
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces
from aster.utility_directory.platform_registry import platform_tools
from aster.utility_directory.tool import ToolContext, ToolLimits
from aster.utility_directory.tool_runtime import Prepared, ToolRuntime


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"SQLITE_DB_PATH": str(tmp_path / "data" / "brain.sqlite")}, None)


class Bench:
    """Calls tools by name, through every step."""

    def __init__(self, context: ToolContext) -> None:
        self.runtime = ToolRuntime(platform_tools())
        self.context = context
        self.root = context.workspace.cwd
        self.heard: list[tuple[str, str]] = []

    def prepared(self, tool: str, **given: Any) -> Prepared:
        prepared = self.runtime.prepare(ToolCall(id="call-1", name=tool, input=given))
        assert isinstance(prepared, Prepared), prepared
        return prepared

    def decide(self, tool: str, **given: Any) -> Decision:
        return self.runtime.decide(self.prepared(tool, **given), self.context)

    async def run(self, tool: str, **given: Any) -> ToolOutcome:
        outcome, _ = await self.runtime.run(self.prepared(tool, **given), self.context)
        return outcome

    async def text(self, tool: str, **given: Any) -> str:
        """The text of a call that went well."""
        outcome = await self.run(tool, **given)
        assert outcome.ok, outcome
        return said(outcome)

    async def error(self, tool: str, **given: Any) -> tuple[str | None, str]:
        """The reason and the text of a call that did not."""
        outcome = await self.run(tool, **given)
        assert not outcome.ok, outcome
        return outcome.reason, said(outcome)

    async def check(self, tool: str, **given: Any) -> ToolOutcome | None:
        return await self.runtime.check(self.prepared(tool, **given), self.context)

    def with_key(self, key: str) -> "Bench":
        return Bench(replace(self.context, idempotency_key=key))


@contextmanager
def swapping(target: Path, spare: Path, outside: Path) -> Iterator[None]:
    """While it lasts, `target` is a file and a link to `outside` by turns, as fast as somebody can swap them."""
    spare.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        libc = ctypes.CDLL(None)
        here = -100
        while not stop.is_set():
            libc.renameat2(here, bytes(target), here, bytes(spare), 2)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def said(outcome: ToolOutcome) -> str:
    return "".join(block.text for block in outcome.output if isinstance(block, TextBlock))


@pytest.fixture
async def bench(settings: Settings) -> AsyncIterator[Bench]:
    sandbox = await choose(settings)
    heard: list[tuple[str, str]] = []
    context = ToolContext(
        user_id="local",
        task_id="task-1",
        turn_id="turn-1",
        tool_call_id="call-1",
        idempotency_key="turn-1:1:call-1",
        workspace=await Workspaces(settings, sandbox).of("local", "t1"),
        sandbox=sandbox,
        progress=lambda text, stream: heard.append((text, stream)),
        limits=ToolLimits.of(settings),
    )
    bench = Bench(context)
    bench.heard = heard
    yield bench
    sandbox.close()
