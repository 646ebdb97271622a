"""Looking at the machine's processes from outside the sandbox."""

import contextlib
import secrets
from pathlib import Path

import psutil


def token() -> str:
    """A name that no other process has."""
    return f"sleeper-{secrets.token_hex(8)}"


def sleeper(name: str) -> str:
    """Shell text that becomes a sleeping process of that name."""
    return f"bash -c 'exec -a {name} sleep 300'"


def daemon(name: str) -> str:
    """Shell text that leaves a sleeper behind: forked twice, in a session of its own, holding no pipe."""
    return f"(setsid {sleeper(name)} </dev/null >/dev/null 2>&1 &)"


def alive(name: str) -> list[psutil.Process]:
    """Processes of that name that still run; a zombie is not alive, it only waits for its parent."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if name in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def sleeping(name: str) -> list[psutil.Process]:
    """Sleepers of that name that have come up, and nothing else that only mentions it."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.cmdline()[:1] == [name]:
                found.append(process)
    return found


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
