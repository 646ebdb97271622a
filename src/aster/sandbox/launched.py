"""Commands without namespaces: confined and kept by a launcher of ours, which is one process more per command.

The files of the machine stay where they are, so there is no private /tmp: each command gets an empty directory of
its own (`TMPDIR`), and what lies inside a root cannot be hidden from it, so such a root is refused.
"""

import asyncio
import contextlib
import os
import secrets
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox import host, process
from aster.sandbox.access import open_to
from aster.sandbox.backend import EGRESS_PORT, Command, Completed, OnOutput, SandboxReport, unavailable
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits, hard_limits
from aster.sandbox.removal import remove
from aster.sandbox.settle import uninterrupted
from aster.sandbox.watchdog import Watchdog

_ETC = (*host.ETC, "group", "nsswitch.conf", "passwd")
_DEVICES = ("full", "null", "random", "urandom", "zero")
_PROC = (
    *("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"),
    *("sys/kernel/osrelease", "sys/kernel/pid_max", "sys/kernel/random/uuid", "sys/vm/overcommit_memory"),
)
_SPAWNERS = 4


class Launched(ABC):
    """Runs each command under a launcher; what the launcher is, a backend says."""

    scratch: Path | None = None
    carries_egress = False

    def __init__(self, report: SandboxReport, limits: Limits, identity: Identity | None, scratch: Path) -> None:
        self.report = report
        self.limits = limits
        self.identity = identity
        self.files = FileThreads(identity)
        self.granted = tuple(_granted())
        self._scratch = scratch
        # A command dies with the thread that started it, so these threads live as long as the sandbox does.
        self._spawners = ThreadPoolExecutor(_SPAWNERS, thread_name_prefix="aster-spawn")
        self._lock = threading.Lock()
        self._spare: Spare | None = None
        self._closed = False
        _sweep(scratch)

    @abstractmethod
    def launcher(self) -> list[str]:
        """The launcher's program and the arguments that are its own."""

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        """Run a command. `SANDBOX_UNAVAILABLE` means that it was not run at all."""
        _check(command, self.carries_egress)
        limits = command.limits or self.limits
        launch = _Launch(self, command, limits)
        try:
            done = await process.run(
                launch.start,
                timeout_seconds=command.timeout_seconds,
                limits=(command.stdout_bytes, command.stderr_bytes),
                everything=command.everything,
                watchdog=Watchdog(limits, command.workspace.cwd),
                on_output=on_output,
                spawner=self._spawners,
            )
            problem = launch.problem()
        finally:
            await uninterrupted(asyncio.ensure_future(asyncio.to_thread(launch.close)))
        if problem and not done.timed_out and done.exceeded is None:
            raise unavailable(problem)
        return done

    def make_scratch(self) -> Path:
        """An empty directory for one command, named for this process so that a later one can clear it away."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        place = self._scratch.resolve() / f"{os.getpid()}-{secrets.token_hex(8)}"
        place.mkdir(mode=0o700)
        if self.identity is not None:
            os.chown(place, self.identity.uid, self.identity.gid)
            open_to(place, self.identity)
        return place

    def take(self, stdio: tuple[int, int] | None = None) -> "Spare":
        """A launcher that waits for its command: the one that has been started ahead, if it is still there. A command
        with an input of its own gets a launcher of its own."""
        if stdio is not None:
            return self._start_launcher(stdio)
        with self._lock:
            ready, self._spare = self._spare, None
        if ready is not None and ready.child.process.poll() is None:
            return ready
        if ready is not None:
            ready.close()
        return self._start_launcher()

    def refill(self) -> None:
        """Start the launcher of the next command ahead: starting Python takes longer than all else it does."""
        ready = self._start_launcher()
        with self._lock:
            unwanted = ready if self._closed or self._spare is not None else None
            if unwanted is None:
                self._spare = ready
        if unwanted is not None:
            unwanted.close()

    def close(self) -> None:
        """Stops the threads, and with them every command that still runs."""
        with self._lock:
            self._closed = True
            ready, self._spare = self._spare, None
        if ready is not None:
            ready.close()
        self.files.close()
        self._spawners.shutdown(wait=False, cancel_futures=True)

    def _start_launcher(self, stdio: tuple[int, int] | None = None) -> "Spare":
        identity = self.identity
        who = (f"uid={identity.uid}", f"gid={identity.gid}") if identity is not None else ()
        with contextlib.ExitStack() as handed_over, contextlib.ExitStack() as kept:
            reading, order = os.pipe()
            handed_over.callback(os.close, reading)
            kept.callback(os.close, order)
            complaints, complain = os.pipe()
            handed_over.callback(os.close, complain)
            kept.callback(os.close, complaints)
            lines, engine = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            handed_over.callback(engine.close)
            kept.callback(lines.close)
            given = {"order": reading, "complain": complain, "engine": engine.fileno()}
            static = (*(f"{name}={fd}" for name, fd in given.items()), f"parent={os.getpid()}", *who)
            fds = list(given.values())
            child = process.spawn([*self.launcher(), *static], identity=None, pass_fds=fds, stdio=stdio)
            kept.pop_all()
        child.keeper = True
        return Spare(child, order, complaints, lines)


@dataclass(frozen=True, slots=True)
class Spare:
    """A launcher without a command: where its order goes, where it says what went wrong, and where the connections of
    a command with a way out come from."""

    child: process.Child
    order: int
    complaints: int
    lines: socket.socket

    def close(self) -> None:
        """It has started nothing yet, so it may simply be killed."""
        self.child.process.kill()
        self.child.close()
        os.close(self.order)
        os.close(self.complaints)
        self.lines.close()


class _Launch:
    """The start of one command: its directory, and the pipe on which the launcher says what went wrong."""

    def __init__(self, sandbox: Launched, command: Command, limits: Limits) -> None:
        self._sandbox = sandbox
        self._command = command
        self._limits = limits
        self._complaints = -1
        self._scratch: Path | None = None

    def start(self) -> process.Child:
        """Blocks for a few milliseconds, so it runs in a spawner thread."""
        self._scratch = self._sandbox.make_scratch()
        order = os.fsencode("\0".join(self._order(self._scratch)))
        spare = self._sandbox.take(self._command.stdio)
        self._complaints = spare.complaints
        if self._command.egress is None:
            spare.lines.close()
        else:
            self._command.egress(spare.lines)
        with contextlib.suppress(BrokenPipeError), os.fdopen(spare.order, "wb") as pipe:
            pipe.write(order)
        self._sandbox.refill()
        return spare.child

    def problem(self) -> str:
        return os.read(self._complaints, 65536).decode("utf-8", "replace")

    def close(self) -> None:
        if self._complaints >= 0:
            os.close(self._complaints)
        if self._scratch is not None:
            remove(self._scratch)

    def _order(self, scratch: Path) -> Iterator[str]:
        command, identity, workspace = self._command, self._sandbox.identity, self._command.workspace
        yield f"cwd={workspace.cwd}"
        if command.egress is not None:
            yield f"out={EGRESS_PORT}"
        yield from self._sandbox.granted
        yield from (f"system={place}" for place in command.readable)
        yield from (f"write={place}" for place in (*workspace.roots, *workspace.beside, scratch))
        yield from (f"env={name}={value}" for name, value in _environment(command, scratch).items())
        processes = _tasks_of(identity.uid if identity else os.getuid()) + self._limits.processes
        yield from (f"limit={kind}:{value}" for kind, value in hard_limits(self._limits, processes).items())
        yield "--"
        yield from command.argv


def _check(command: Command, carries_egress: bool) -> None:
    workspace = command.workspace
    if command.egress is not None and not carries_egress:
        raise unavailable(
            "this isolation has no way to the network; SANDBOX=bubblewrap and SANDBOX=landlock have one"
        )
    for place in workspace.hidden:
        if any(place.is_relative_to(root) for root in workspace.roots):
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                f"ALLOWED_ROOTS contains the engine's own data ({place}), which this isolation cannot hide. Name"
                " the directories beside it, move the brain with SQLITE_DB_PATH, or use SANDBOX=bubblewrap.",
                {"path": str(place)},
            )


def _granted() -> Iterator[str]:
    """Programs and libraries, and the little of /etc, /dev and /proc that they fail without."""
    groups = {
        "system": map(Path, host.SYSTEM),
        "read": (*(Path("/etc", name) for name in _ETC), *(Path("/proc", name) for name in _PROC)),
        "device": (Path("/dev", name) for name in _DEVICES),
    }
    for kind, paths in groups.items():
        yield from (f"{kind}={path}" for path in paths if path.exists())


def _environment(command: Command, scratch: Path) -> dict[str, str]:
    return host.environment(
        str(command.workspace.home),
        TMPDIR=str(scratch),
        **{"GIT_CONFIG_NOSYSTEM": "1", **host.TRUSTING, **dict(command.environment)},
    )


def _tasks_of(uid: int) -> int:
    """How many processes and threads the user has already: the kernel counts them all against the limit."""
    count = 0
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    if entry.stat().st_uid == uid:
                        count += Path(entry.path, "task").stat().st_nlink - 2
    return count


def _sweep(scratch: Path) -> None:
    """Remove what commands of engines that are gone have left."""
    if not scratch.is_dir():
        return
    for place in scratch.iterdir():
        owner = place.name.partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            remove(place)
