"""What every way of running tools looks like from outside: a command goes in, what it came to comes out.

A backend owns the processes it starts: when `run` is over, by end, time-out or cancellation, nothing that the
command started is left.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from aster.contracts.model import Contract
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace

OnOutput: TypeAlias = Callable[[str, str], None]
"""Called with a piece of text and the name of its stream while the command runs."""

STDOUT_BYTES = 40_000
STDERR_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in a workspace, and what it may use."""

    argv: tuple[str, ...]
    workspace: Workspace
    timeout_seconds: float = 120.0
    limits: Limits = field(default_factory=Limits)
    stdout_bytes: int = STDOUT_BYTES
    stderr_bytes: int = STDERR_BYTES

    @classmethod
    def shell(cls, script: str, workspace: Workspace, timeout_seconds: float = 120.0) -> "Command":
        return cls(("/bin/bash", "-c", script), workspace, timeout_seconds)


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command came to; `signal` is the one that ended it, as far as a shell's exit status tells."""

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    truncated: bool = False
    signal: int | None = None


class SandboxReport(Contract):
    """Which isolation is in force and how we know, for `/health` and `aster doctor`."""

    backend: str
    ok: bool
    reason: str
    how_to_fix: str = ""


class Sandbox(Protocol):
    """Where commands and file work run, and as whom. `scratch` is a directory private to each command."""

    report: SandboxReport
    identity: Identity | None
    files: FileThreads
    scratch: Path | None

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed: ...

    def close(self) -> None: ...
