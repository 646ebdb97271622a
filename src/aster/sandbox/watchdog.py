"""What all processes of a command use together: counted from outside while it runs, because the kernel's own limits
hold for one process each.

It only looks and says what was exceeded; whoever started the command ends it. A command that is over before the
first look costs nothing.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aster.sandbox.limits import Limits

_SECONDS = 0.1
_HELPERS = 8
_RESERVE_BYTES = 256 << 20
_NOTABLE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a process and everything below it."""

    processes: int
    resident_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class Watchdog:
    """The limits of one command, and the directory whose disk must not become full."""

    limits: Limits
    place: Path

    async def watch(self, pid: int) -> str:
        """Returns when the processes at and below `pid` use more than they may, with a sentence about it."""
        while True:
            await asyncio.sleep(_SECONDS)
            excess = await asyncio.to_thread(self.excess, pid)
            if excess is not None:
                return f"Killed: {excess}"

    def excess(self, pid: int) -> str | None:
        """What is too much right now."""
        pids = list(descendants(pid))
        used = usage(pids)
        limits = self.limits
        if used.processes > limits.processes + _HELPERS:
            return f"the command had more than {limits.processes} processes."
        if used.resident_bytes > limits.memory_bytes and _own_memory(pids) > limits.memory_bytes:
            return f"the command and what it started used more than {limits.memory_bytes >> 20} MB of memory."
        if used.written_bytes > limits.written_bytes:
            return f"the command wrote more than {limits.written_bytes >> 20} MB to disk."
        if used.written_bytes > _NOTABLE_BYTES and _nearly_full(self.place):
            return "the disk is nearly full, and the command went on writing to it."
        return None


def descendants(pid: int) -> Iterator[int]:
    """The process and everything below it; one that ends or moves meanwhile may be missed."""
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - on every look, many times
                waiting += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def usage(pids: list[int]) -> Usage:
    page = os.sysconf("SC_PAGE_SIZE")
    resident = written = 0
    for pid in pids:
        fields = _read(f"/proc/{pid}/statm").split()
        resident += int(fields[1]) * page if fields else 0
        written += _figure(_read(f"/proc/{pid}/io"), "write_bytes:")
    return Usage(len(pids), resident, written)


def _own_memory(pids: list[int]) -> int:
    """Memory that is not just a view of a file, pages that several processes share counted once. Costly to ask for,
    so it is asked only when the plain sum is too high."""
    total = 0
    for pid in pids:
        shares = _read(f"/proc/{pid}/smaps_rollup")
        total += (_figure(shares, "Pss_Anon:") + _figure(shares, "Pss_Shmem:")) << 10
    return total


def _nearly_full(place: Path) -> bool:
    try:
        disk = os.statvfs(place)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _RESERVE_BYTES


def _figure(text: str, name: str) -> int:
    """The number behind a name at the start of a line, 0 when it is not there."""
    for line in text.splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - on every look, many times
            return file.read()
    except OSError:
        return ""
