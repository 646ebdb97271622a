"""No isolation, for operators who have said `SANDBOX=off` in so many words.

Commands see the whole machine and its network. What is kept: no environment, limits, an unprivileged uid when the
engine is root, and the end of the process group; a child that starts a session of its own outlives its command.
"""

from functools import partial
from pathlib import Path

from aster.sandbox import host, process
from aster.sandbox.backend import Command, Completed, OnOutput, SandboxReport
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits, limited
from aster.sandbox.watchdog import Watchdog


class Unconfined:
    """Runs commands as plain processes."""

    scratch: Path | None = None
    carries_egress = False

    def __init__(self, limits: Limits, identity: Identity | None) -> None:
        self.report = SandboxReport(
            backend="off",
            ok=True,
            reason="SANDBOX=off: commands run unprotected on this machine.",
            how_to_fix="Set SANDBOX=auto to isolate them again.",
        )
        self.limits = limits
        self.identity = identity
        self.files = FileThreads(identity)

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        return await process.run(
            partial(self._start, command),
            timeout_seconds=command.timeout_seconds,
            limits=(command.stdout_bytes, command.stderr_bytes),
            everything=command.everything,
            watchdog=Watchdog(command.limits or self.limits, command.workspace.cwd),
            on_output=on_output,
        )

    def close(self) -> None:
        self.files.close()

    def _start(self, command: Command) -> process.Child:
        return process.spawn(
            limited(command.argv, command.limits or self.limits, None),
            identity=self.identity,
            cwd=command.workspace.cwd,
            environment=host.environment(
                str(command.workspace.home),
                **{**({} if self.identity is None else host.TRUSTING), **dict(command.environment)},
            ),
            stdio=command.stdio,
        )
