"""Isolation by bubblewrap: namespaces for everything, a system call filter, limits, and only the roots to write to.

Nothing of the host is visible but its programs and libraries; nothing runs before the engine holds a handle on the
namespace's first process, so that whatever a command starts can be killed by one signal and is gone with it.
"""

import contextlib
import json
import os
import select
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aster.sandbox import host, process, seccomp
from aster.sandbox.backend import EGRESS_PORT, Command, Completed, OnOutput, SandboxReport, unavailable
from aster.sandbox.egress_listener import InsideListener
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits, limited
from aster.sandbox.paths import Workspace
from aster.sandbox.watchdog import Watchdog

_ISOLATION = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--clearenv", "--cap-drop", "ALL", "--hostname", "aster"),
)
# Files of another owner are normal in a sandbox; only the roots are visible, so git may trust what it sees.
# Who commits is named for repositories that do not say.
_GITCONFIG = b"[safe]\n\tdirectory = *\n[user]\n\tname = Aster\n\temail = aster@localhost\n"
_SETUP_SECONDS = 10.0
_SPAWNERS = 4
SCRATCH = Path("/tmp")  # noqa: S108 - a tmpfs that only one command ever sees


class Bubblewrap:
    """Runs each command in a sandbox of its own, made by the given binary."""

    scratch: Path | None = SCRATCH
    carries_egress = True

    def __init__(self, binary: Path, limits: Limits, identity: Identity | None) -> None:
        self.report = SandboxReport(
            backend="bubblewrap",
            ok=True,
            reason="A command run inside saw only its workspace, no network, no environment and no privileges.",
        )
        self.limits = limits
        self.identity = identity
        self.files = FileThreads(identity)
        self._base = (str(binary), *_ISOLATION, *_host_mounts())
        self._filter = seccomp.program()
        # A command dies with the thread that started it, so these threads live as long as the sandbox does.
        self._spawners = ThreadPoolExecutor(_SPAWNERS, thread_name_prefix="aster-spawn")

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        """Run a command. `SANDBOX_UNAVAILABLE` means that it was not run at all."""
        limits = command.limits or self.limits
        with contextlib.closing(_Launch(self._base, self._filter, command, limits, self.identity)) as launch:
            done = await process.run(
                launch.start,
                timeout_seconds=command.timeout_seconds,
                limits=(command.stdout_bytes, command.stderr_bytes),
                everything=command.everything,
                watchdog=Watchdog(limits, command.workspace.cwd),
                on_output=on_output,
                spawner=self._spawners,
            )
            if not launch.ran() and not done.timed_out and done.signal is None:
                raise unavailable(done.stderr)
            return done

    def close(self) -> None:
        """Stops the threads, and with them every command that still runs."""
        self.files.close()
        self._spawners.shutdown(wait=False, cancel_futures=True)


class _Launch:
    """The start of one command: pipes that carry files and the filter in, and bubblewrap's status out."""

    def __init__(
        self,
        base: tuple[str, ...],
        filter_program: bytes | None,
        command: Command,
        limits: Limits,
        identity: Identity | None,
    ) -> None:
        self._base = base
        self._filter = filter_program
        self._command = command
        self._limits = limits
        self._identity = identity
        self._status = -1
        self._lifeline = -1
        self._first = -1

    def start(self) -> process.Child:
        """Blocks for a few milliseconds, so it runs in a spawner thread."""
        hold_read, hold_write = os.pipe()
        inside = InsideListener(EGRESS_PORT, self._identity) if self._command.egress is not None else None
        try:
            child = self._spawn(hold_read)
            try:
                child.init = self._hold()
                if self._command.egress is not None and inside is not None and child.init is not None:
                    self._command.egress(inside.open(self._first))
                with contextlib.suppress(BrokenPipeError):
                    os.write(hold_write, b"\n")
            except BaseException:
                child.close()
                raise
            return child
        finally:
            os.close(hold_write)
            if inside is not None:
                inside.close()

    def _spawn(self, hold_read: int) -> process.Child:
        """What is handed over is closed here at once: the end of a pipe must mean the end of bubblewrap."""
        with contextlib.ExitStack() as handed_over:
            handed_over.callback(os.close, hold_read)
            self._status, status_write = os.pipe()
            handed_over.callback(os.close, status_write)
            lifeline, self._lifeline = os.pipe()
            handed_over.callback(os.close, lifeline)
            given = [status_write, hold_read, lifeline]
            arguments = ["--json-status-fd", str(status_write), "--block-fd", str(hold_read)]
            for option, destination, content in self._contents():
                fd = _pipe_with(content)
                handed_over.callback(os.close, fd)
                given.append(fd)
                arguments += [*option, str(fd), *destination]
            argv = self._argv(arguments, lifeline)
            return process.spawn(argv, identity=self._identity, pass_fds=given, stdio=self._command.stdio)

    def ran(self) -> bool:
        """Whether the command itself was executed, as bubblewrap says once it is over."""
        os.set_blocking(self._status, False)
        try:
            return any("exit-code" in json.loads(line) for line in os.read(self._status, 65536).splitlines())
        except BlockingIOError:
            return False

    def close(self) -> None:
        for fd in (self._status, self._lifeline):
            if fd >= 0:
                os.close(fd)

    def _argv(self, arguments: list[str], lifeline: int) -> list[str]:
        command, workspace = self._command, self._command.workspace
        environment = host.environment(str(workspace.home), **dict(command.environment))
        scratch = ("--size", str(self._limits.scratch_bytes), "--tmpfs")
        return [
            *self._base,
            *(*scratch, "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108 - inside the sandbox
            *(*scratch, str(SCRATCH)),
            *(part for place in command.readable for part in ("--ro-bind", str(place), str(place))),
            *_workspace_mounts(workspace),
            *arguments,
            *("--remount-ro", "/", "--chdir", str(workspace.cwd)),
            *(part for name, value in environment.items() for part in ("--setenv", name, value)),
            "--",
            # bubblewrap dies with us only from the moment when it has said so to the kernel.
            *limited(command.argv, self._limits, self._limits.processes, lifeline),
        ]

    def _contents(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], bytes]]:
        uid = self._identity.uid if self._identity else os.getuid()
        gid = self._identity.gid if self._identity else os.getgid()
        readable = ("--perms", "0644", "--file")
        passwd = f"aster:x:{uid}:{gid}::{self._command.workspace.home}:/bin/bash\n"
        yield readable, ("/etc/passwd",), passwd.encode("utf-8", "surrogateescape")
        yield readable, ("/etc/group",), f"aster:x:{gid}:\n".encode()
        yield readable, ("/etc/gitconfig",), _GITCONFIG
        if self._filter is not None:
            yield ("--seccomp",), (), self._filter

    def _hold(self) -> int | None:
        """A handle on the first process of the namespace, which waits for our word; None if there is none because
        bubblewrap has failed, which its exit and its words on stderr will tell."""
        line = b""
        while not line.endswith(b"\n"):
            if not _readable(self._status, _SETUP_SECONDS):
                raise unavailable("bubblewrap did not start in time")
            piece = os.read(self._status, 65536)
            if not piece:
                return None
            line += piece
        self._first = json.loads(line)["child-pid"]
        with contextlib.suppress(ProcessLookupError):
            return os.pidfd_open(self._first)
        return None


def _host_mounts() -> tuple[str, ...]:
    """Programs, libraries and what they need to find each other, read-only; a fresh /dev and /proc."""
    out: list[str] = []
    for path in map(Path, host.SYSTEM):
        if path.is_symlink():
            out += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            out += ["--ro-bind", str(path), str(path)]
    for path in (Path("/etc") / name for name in host.ETC):
        if path.exists():
            out += ["--ro-bind-try", str(path), str(path)]
    # The kernel's settings stay read-only even for a process that looks like root to them.
    return (*out, "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys")


def _workspace_mounts(workspace: Workspace) -> list[str]:
    """The roots, and an empty place over what is hidden in them; what is deeper is mounted later."""
    hidden = [place for place in workspace.hidden if _inside_any(place, workspace.roots) and place.is_dir()]
    out: list[str] = []
    for place in sorted({*workspace.roots, *workspace.beside, *hidden}, key=lambda path: len(path.parts)):
        out += ["--tmpfs", str(place)] if place in hidden else ["--bind", str(place), str(place)]
    for place in hidden:
        out += ["--remount-ro", str(place)]
    return out


def _inside_any(path: Path, roots: tuple[Path, ...]) -> bool:
    return path not in roots and any(path.is_relative_to(root) for root in roots)


def _pipe_with(content: bytes) -> int:
    """The reading end of a pipe that holds `content` (small: it has to fit) and then ends."""
    read, write = os.pipe()
    try:
        os.write(write, content)
    finally:
        os.close(write)
    return read


def _readable(fd: int, timeout_seconds: float = 0.0) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(timeout_seconds * 1000))
