"""No isolation works here and the operator has not turned it off: every command is refused, with the reason.

File tools still work; they never leave the workspace and need no process.
"""

from pathlib import Path

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox.backend import Command, Completed, OnOutput, SandboxReport
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity


class Unavailable:
    """Refuses to run anything."""

    scratch: Path | None = None
    carries_egress = False

    def __init__(self, report: SandboxReport, identity: Identity | None) -> None:
        self.report = report
        self.identity = identity
        self.files = FileThreads(identity)

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        raise EngineError(
            ErrorCode.SANDBOX_UNAVAILABLE,
            "No isolation works on this machine, so commands are not run. An operator can fix it: "
            + self.report.how_to_fix,
            {"reason": self.report.reason},
        )

    def close(self) -> None:
        self.files.close()
