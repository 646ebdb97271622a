"""Isolation without namespaces, by our own launcher: Landlock for files and signals, a system call filter for all
else. It works where namespaces are forbidden, as in many containers; see `launched` for what it cannot hide.
"""

import platform
import sys
from pathlib import Path

from aster.sandbox import launcher, seccomp
from aster.sandbox.backend import SandboxReport
from aster.sandbox.identity import Identity
from aster.sandbox.launched import Launched
from aster.sandbox.limits import Limits

# Imported and not executed as a file, so that Python compiles it once and not for every command.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from launcher import main; from broker import Broker;"
    " from way_out import WayOut; main(sys.argv[2:], serve=Broker, leave=WayOut)"
)


class Landlock(Launched):
    """Runs each command under `launcher`."""

    carries_egress = True

    def __init__(self, limits: Limits, identity: Identity | None, scratch: Path) -> None:
        report = SandboxReport(
            backend="landlock",
            ok=True,
            reason="A command inside could use only its workspace, no network, no environment and no privileges.",
        )
        super().__init__(report, limits, identity, scratch)
        program, outward = seccomp.program(shared=True) or b"", seccomp.program(shared=True, out=True) or b""
        self._launcher = [
            *(str(Path(sys.executable).resolve()), "-I", "-S", "-c", _PROGRAM, str(Path(launcher.__file__).parent)),
            f"filter={program.hex()}",
            f"filter_out={outward.hex()}",
            *(f"broker={name}:{number}" for name, number in seccomp.brokered().items()),
        ]

    def launcher(self) -> list[str]:
        return self._launcher


def missing() -> str | None:
    """What this machine lacks for it, as far as the kernel says."""
    abi = launcher.landlock_abi()
    if abi == 0:
        return "the kernel has no Landlock, or it is not enabled"
    if abi < launcher.LEAST_ABI:
        return f"the kernel's Landlock is version {abi}; {launcher.LEAST_ABI} is needed (Linux 6.12)"
    if seccomp.program() is None:
        return f"there is no system call filter for {platform.machine()}"
    return None
