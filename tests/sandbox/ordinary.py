"""Running this project's Python as a user without privileges, also when everything is installed in root's own home.

The private directories are laid open in a mount namespace of the child alone; the machine stays as it is.
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

UID = 65531
ROOT = Path(__file__).parents[2]


def run_as_somebody(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program text as an ordinary user, with a directory of its own as its only argument."""
    place = Path(tempfile.mkdtemp(prefix="aster-ordinary-"))
    argv = [sys.executable, "-c", program, str(place)]
    try:
        if os.geteuid() == 0:
            os.chown(place, UID, UID)
            become = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]
            argv = ["unshare", "--mount", "bash", "-c", f'{_laid_open()}\nexec "$@"', "open", *become, *argv]
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "PYTHONPATH": str(ROOT)}
        return subprocess.run(argv, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _laid_open() -> str:
    """Shell text after which everybody can reach what the project needs."""
    needed = {Path(path).resolve() for path in (sys.base_prefix, sys.prefix, ROOT)}
    closed = {path: top for path in needed if (top := _first_private(path)) is not None}
    lines = ["set -e"]
    for number, path in enumerate(closed):
        lines.append(f"held{number}=$(mktemp -d); mount --bind {path} $held{number}")
    lines += [f"mount -t tmpfs -o mode=755 none {top}" for top in sorted(set(closed.values()))]
    for number, path in enumerate(closed):
        lines.append(
            f"mkdir -p {path}; mount --bind $held{number} {path}; umount $held{number}; rmdir $held{number}"
        )
    return "\n".join(lines)


def _first_private(path: Path) -> Path | None:
    above = [*reversed(path.parents), path]
    return next((place for place in above if not place.stat().st_mode & stat.S_IXOTH), None)
