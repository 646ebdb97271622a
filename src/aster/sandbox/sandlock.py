"""Isolation by the sandlock library (the `sandlock` extra), under the same launcher as our own Landlock backend.

The library is loaded anew for every command, which takes longer than all else; changing modes and times of files by
path does not work inside.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from aster.sandbox import landlock, seccomp
from aster.sandbox.backend import SandboxReport
from aster.sandbox.identity import Identity
from aster.sandbox.launched import Launched
from aster.sandbox.limits import Limits


class Sandlock(Launched):
    """Runs each command under `sandlock_command`."""

    def __init__(self, limits: Limits, identity: Identity | None, scratch: Path) -> None:
        report = SandboxReport(
            backend="sandlock",
            ok=True,
            reason="A command inside could use only its workspace, no network, no environment and no privileges.",
        )
        super().__init__(report, limits, identity, scratch)

    def launcher(self) -> list[str]:
        program = seccomp.supplement() or b""
        return [sys.executable, "-I", "-m", "aster.sandbox.sandlock_command", f"filter={program.hex()}"]


def missing() -> str | None:
    """What this machine lacks for it."""
    if find_spec("sandlock") is None:
        return "the `sandlock` extra is not installed"
    return landlock.missing()
