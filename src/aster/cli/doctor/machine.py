"""The machine: its Python, its isolation, its disk."""

import platform
import shutil
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path

from aster import __version__
from aster.cli.doctor.report import Finding
from aster.infra.settings import Settings
from aster.sandbox.egress import unlimited
from aster.sandbox.selection import choose

OLDEST_PYTHON = (3, 11)
LITTLE_BYTES = 1_000_000_000
TOO_LITTLE_BYTES = 100_000_000


def python() -> Finding:
    found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding(check="python", status="fail", found=found, fix="Install Python 3.11 or newer.")
    return Finding(check="python", status="ok", found=found)


def versions() -> Finding:
    parts = [f"aster {__version__}", f"SQLite {sqlite3.sqlite_version}"]
    parts += [f"{name} {version(name)}" for name in ("msgspec", "httpx2", "uvicorn")]
    return Finding(check="versions", status="ok", found=", ".join(parts))


async def sandbox(settings: Settings) -> Finding:
    """Run a command in the isolation the engine would choose."""
    chosen = await choose(settings)
    report, egress = chosen.report, unlimited(chosen, settings)
    chosen.close()
    if egress is not None:
        return Finding(check="sandbox", status="fail", found=egress, fix="Change SANDBOX or EGRESS_ALLOW.")
    if settings.sandbox == "off":
        return Finding(
            check="sandbox",
            status="warn",
            found="SANDBOX=off: commands run unprotected, as this user",
            fix="Set SANDBOX=auto unless the machine itself is the sandbox.",
        )
    if not report.ok:
        return Finding(
            check="sandbox", status="fail", found=f"no isolation works: {report.reason}", fix=report.how_to_fix
        )
    others = "".join(f"; {one.backend} not: {one.reason}" for one in report.tried if not one.ok)
    return Finding(check="sandbox", status="ok", found=f"{report.backend}: a probe ran in it{others}")


def disk(directory: Path) -> Finding:
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    found = f"{free / 1e9:.1f} GB free at {existing}"
    if free >= LITTLE_BYTES:
        return Finding(check="disk", status="ok", found=found)
    status = "fail" if free < TOO_LITTLE_BYTES else "warn"
    return Finding(
        check="disk", status=status, found=found, fix="Make room, or move the brain with SQLITE_DB_PATH."
    )
