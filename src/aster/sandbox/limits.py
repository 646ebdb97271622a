"""What one command may use. The limits of a process are hard: set inside the sandbox by what then becomes the
command, so they hold for everything it starts and cannot be raised again. What all its processes use together
is watched from outside (`watchdog`).
"""

import resource
from dataclasses import dataclass

from aster.infra.settings import Settings

# How the shell calls a limit, and in what it counts it.
_LETTERS = {
    resource.RLIMIT_CORE: ("c", 1),
    resource.RLIMIT_DATA: ("d", 1024),
    resource.RLIMIT_FSIZE: ("f", 1024),
    resource.RLIMIT_NOFILE: ("n", 1),
    resource.RLIMIT_CPU: ("t", 1),
    resource.RLIMIT_NPROC: ("u", 1),
}
_FILES = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """CPU time, open files and the size of a file are per process. Memory is so too, and holds for all processes of
    a command together; so do their number and what they write to disk. `scratch_bytes` is the size of its /tmp."""

    memory_bytes: int = 4 << 30
    processes: int = 256
    file_bytes: int = 2 << 30
    open_files: int = 1024
    cpu_seconds: int = 900
    scratch_bytes: int = 1 << 30

    @property
    def written_bytes(self) -> int:
        """What a command may write to disk in all: a few files of the largest size."""
        return _FILES * self.file_bytes

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            memory_bytes=settings.sandbox_memory_mb << 20,
            processes=settings.sandbox_processes,
            file_bytes=settings.sandbox_file_mb << 20,
        )


def hard_limits(limits: Limits, processes: int | None) -> dict[int, int]:
    """What the kernel is to enforce for each process, by the kind of the limit; never above what holds already.

    Memory is the data limit and not the address space: Node, Go and Java reserve far more addresses than they use.
    The kernel counts `processes` per uid, so that only the caller can say how many that are; None sets no limit.
    """
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CPU: limits.cpu_seconds,
    }
    if processes is not None:
        wanted[resource.RLIMIT_NPROC] = processes
    return {kind: _lower(kind, value) for kind, value in wanted.items()}


def limited(
    argv: tuple[str, ...], limits: Limits, processes: int | None, lifeline: int | None = None
) -> tuple[str, ...]:
    """The same command, started by a shell that sets the limits and offers it first when memory runs out. With a
    `lifeline`, a pipe that ends with the engine, nothing is started for an engine that is gone already, and all that
    was started ends with it: the kernel's own word on that comes too late for one that dies in that moment."""
    options = " ".join(
        f"-{_LETTERS[kind][0]} {value // _LETTERS[kind][1]}"
        for kind, value in hard_limits(limits, processes).items()
    )
    gone = (
        "" if lifeline is None else f"read -t 0 -u {lifeline} && exit 125; {_watch(lifeline)} exec {lifeline}<&-; "
    )
    script = f'{gone}ulimit {options} || exit 125; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"'
    return ("/bin/bash", "-c", script, "limits", *argv)


def _watch(lifeline: int) -> str:
    """A process beside the command, a child of nobody it could wait for, that ends everything when the engine ends."""
    return f"( (read -u {lifeline}; kill -9 -- -1) </dev/null >/dev/null 2>&1 & );"


def _lower(kind: int, value: int) -> int:
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
