"""What one command may use. The limits are hard: set inside the sandbox by the shell that then becomes the
command, so they hold for everything it starts and cannot be raised again.
"""

import resource
from dataclasses import dataclass

_KILO = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Memory and CPU time are per process; processes are counted per command (per uid without namespaces)."""

    memory_bytes: int = 4 << 30
    processes: int = 256
    file_bytes: int = 2 << 30
    open_files: int = 1024
    cpu_seconds: int = 900
    scratch_bytes: int = 1 << 30


def limited(argv: tuple[str, ...], limits: Limits, count_processes: bool = True) -> tuple[str, ...]:
    """The same command, started by a shell that sets the limits and offers it first when memory runs out.

    Memory is the data limit and not the address space: Node, Go and Java reserve far more addresses than they use.
    """
    wanted = [
        ("c", resource.RLIMIT_CORE, 0, 1),
        ("d", resource.RLIMIT_DATA, limits.memory_bytes, _KILO),
        ("f", resource.RLIMIT_FSIZE, limits.file_bytes, _KILO),
        ("n", resource.RLIMIT_NOFILE, limits.open_files, 1),
        ("t", resource.RLIMIT_CPU, limits.cpu_seconds, 1),
    ]
    if count_processes:
        wanted.append(("u", resource.RLIMIT_NPROC, limits.processes, 1))
    options = " ".join(f"-{letter} {_lower(kind, value) // unit}" for letter, kind, value, unit in wanted)
    script = f'ulimit {options} || exit 125; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"'
    return ("/bin/bash", "-c", script, "limits", *argv)


def _lower(kind: int, value: int) -> int:
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
