"""What every way of running tools looks like from outside: a command goes in, what it came to comes out.

A backend owns the processes it starts: when `run` is over, by end, time-out or cancellation, nothing that the
command started is left.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace

OnOutput: TypeAlias = Callable[[str, str], None]
"""Called with a piece of text and the name of its stream while the command runs."""

STDOUT_BYTES = 40_000
STDERR_BYTES = 10_000

EGRESS_PORT = 3128
"""Where `Command.egress` is found inside, on the command's own loopback."""

Egress: TypeAlias = Callable[[socket.socket], None]
"""Takes a socket that listens in the network of a command, or one over which its connections come as descriptors,
before the command starts; called from a thread."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in a workspace, and what it may use (by default what the settings say).

    `environment` is added to the few variables every command has. `egress` answers what the command sends to
    `EGRESS_PORT`, the one way out of a command that is otherwise without network; nothing of it is visible inside.
    A backend whose `carries_egress` is false refuses a command that has one. `everything`: the listener is given
    all output, however much it is, and not only its beginning. `stdio` are the descriptors that the command has as
    its standard input and output, in place of nothing and of a listener; they stay the caller's to close. `readable`
    are places it may look into besides its workspace.
    """

    argv: tuple[str, ...]
    workspace: Workspace
    timeout_seconds: float = 120.0
    limits: Limits | None = None
    stdout_bytes: int = STDOUT_BYTES
    stderr_bytes: int = STDERR_BYTES
    environment: tuple[tuple[str, str], ...] = ()
    egress: Egress | None = None
    everything: bool = False
    stdio: tuple[int, int] | None = None
    readable: tuple[Path, ...] = ()

    @classmethod
    def shell(cls, script: str, workspace: Workspace, timeout_seconds: float = 120.0) -> "Command":
        return cls(("/bin/bash", "-c", script), workspace, timeout_seconds)


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command came to; `signal` is the one that ended it, as far as a shell's exit status tells. `exceeded`
    is a sentence when it was killed for using more than it may, which is also the last line of `stderr`."""

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    truncated: bool = False
    signal: int | None = None
    exceeded: str | None = None


class Attempt(Contract):
    """What became of trying one way of isolation."""

    backend: str
    ok: bool
    reason: str


class SandboxReport(Contract):
    """Which isolation is in force and how we know, for `/health` and `aster doctor`; `tried` in order."""

    backend: str
    ok: bool
    reason: str
    how_to_fix: str = ""
    tried: tuple[Attempt, ...] = ()


class Sandbox(Protocol):
    """Where commands and file work run, and as whom. `scratch` is a directory private to each command;
    `carries_egress` says whether a command can be given a way out (`Command.egress`)."""

    report: SandboxReport
    identity: Identity | None
    files: FileThreads
    scratch: Path | None
    carries_egress: bool

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed: ...

    def close(self) -> None: ...


def unavailable(reason: str) -> EngineError:
    """The error of a command that was not run."""
    return EngineError(
        ErrorCode.SANDBOX_UNAVAILABLE,
        "The sandbox could not be set up, so the command was not run. `aster doctor` says what is missing.",
        {"reason": reason.strip() or "the sandbox failed without a word"},
    )
