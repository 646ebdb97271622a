"""One child process from start to reaped: its output pumped, its time limited, its tree killed.

Nothing here blocks the event loop and nothing depends on which loop it is: exits are seen through pidfds and output
through non-blocking pipes. Every file descriptor opened here is closed here.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aster.sandbox.backend import Completed, OnOutput
from aster.sandbox.capture import SHOWN_BYTES, Capture
from aster.sandbox.identity import Identity
from aster.sandbox.settle import uninterrupted
from aster.sandbox.watchdog import Watchdog

_CHUNK = 1 << 20
_LISTENED = 1 << 16
_FLOOD_PAUSE = 0.005
_STRAGGLERS = 0.25
_GRACE = 5.0
_SIGNALS = range(129, 129 + 64)


@dataclass(slots=True)
class Child:
    """A started process. `init` is the pidfd of the first process of its pid namespace, if it has one; a `keeper`
    is a process of ours that, told to terminate, first ends everything below it."""

    process: subprocess.Popen[bytes]
    pidfd: int
    stdout: int
    stderr: int
    init: int | None = None
    keeper: bool = False

    def kill(self) -> None:
        """Kill everything in it: the end of a namespace's first process ends all others, daemons too."""
        with contextlib.suppress(ProcessLookupError):
            if self.init is not None:
                signal.pidfd_send_signal(self.init, signal.SIGKILL)
            elif self.process.returncode is not None:
                return
            elif self.keeper:
                signal.pidfd_send_signal(self.pidfd, signal.SIGTERM)
            else:
                os.killpg(self.process.pid, signal.SIGKILL)

    def kill_keeper(self) -> None:
        """A keeper that does not do its work is killed with its group."""
        if self.keeper and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def reap(self) -> int:
        """Collect the exit status; also of an orphaned init, which is ours to reap when the engine is pid 1."""
        code = self.process.wait()
        if self.init is not None:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, self.init, os.WEXITED | os.WNOHANG)
        return code

    def close(self) -> None:
        if self.process.returncode is None:
            self.kill()
            try:
                self.process.wait(_GRACE if self.keeper else None)
            except subprocess.TimeoutExpired:
                self.kill_keeper()
                self.process.wait()
        for fd in (self.pidfd, self.stdout, self.stderr, self.init):
            if fd is not None:
                os.close(fd)


def spawn(
    argv: Sequence[str],
    *,
    identity: Identity | None,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    stdio: tuple[int, int] | None = None,
) -> Child:
    """Start a process in a session of its own, with no input and no environment unless they are given."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if stdio is None else stdio[0],
            stdout=out_write if stdio is None else stdio[1],
            stderr=err_write,
            cwd=cwd,
            env=environment or {},
            pass_fds=pass_fds,
            start_new_session=True,
            user=identity.uid if identity else None,
            group=identity.gid if identity else None,
            extra_groups=() if identity else None,
        )
    except BaseException:
        os.close(out_read)
        os.close(err_read)
        raise
    finally:
        os.close(out_write)
        os.close(err_write)
    return Child(process, os.pidfd_open(process.pid), out_read, err_read)


class _Pump:
    """Moves what a pipe holds into a capture; `done` when the last writer is gone."""

    def __init__(self, fd: int, capture: Capture, on_failure: Callable[[], None], everything: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._bite = _LISTENED if everything else _CHUNK
        self._capture = capture
        self._on_failure = on_failure
        self._closed = False
        self.done: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._ready)

    def _ready(self) -> None:
        try:
            data = os.read(self._fd, self._bite)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        try:
            self._capture.feed(data)
        except Exception as error:  # noqa: BLE001 - the boundary to the caller's callback; raised again by `run`
            self.done.set_exception(error)
            self.close()
            self._on_failure()
            return
        if self._capture.truncated:
            self._rest()

    def _rest(self) -> None:
        """A flood must not keep the loop busy: pauses, with larger bites where nobody will see what comes."""
        self._loop.remove_reader(self._fd)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, self._bite)
        self._loop.call_later(_FLOOD_PAUSE, self._resume)

    def _resume(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._fd, self._ready)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._fd)
        if not self.done.done():
            self.done.set_result(None)


class _Exit:
    """Sees a process end, through its pidfd; a process that does not exist has ended."""

    def __init__(self, pidfd: int | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._pidfd = pidfd
        self.done: asyncio.Future[None] = self._loop.create_future()
        if pidfd is None:
            self.done.set_result(None)
        else:
            self._loop.add_reader(pidfd, self._seen)

    def _seen(self) -> None:
        self.close()
        if not self.done.done():
            self.done.set_result(None)

    def close(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)


async def run(
    start: Callable[[], Child],
    *,
    timeout_seconds: float,
    limits: tuple[int, int],
    watchdog: Watchdog | None = None,
    on_output: OnOutput | None = None,
    spawner: Executor | None = None,
    everything: bool = False,
) -> Completed:
    """Start a child in the spawner and see it through. A cancellation kills its tree, reaps it, and goes on."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    starting = loop.run_in_executor(spawner, start)
    supervision = partial(
        _supervise,
        stop=stop,
        timeout_seconds=timeout_seconds,
        limits=limits,
        watchdog=watchdog,
        on_output=on_output or _ignore,
        everything=everything,
    )
    work = loop.create_task(_own(starting, supervision))
    return await uninterrupted(work, stop.set)


async def _own(starting: asyncio.Future[Child], supervision: Callable[[Child], Awaitable[Completed]]) -> Completed:
    try:
        child = await uninterrupted(starting)
    except asyncio.CancelledError:
        if starting.exception() is None:
            starting.result().close()
        raise
    try:
        return await supervision(child)
    finally:
        child.close()


async def _supervise(
    child: Child,
    *,
    stop: asyncio.Event,
    timeout_seconds: float,
    limits: tuple[int, int],
    watchdog: Watchdog | None,
    on_output: OnOutput,
    everything: bool,
) -> Completed:
    out = Capture(limits[0], partial(_forward, on_output, "stdout"), SHOWN_BYTES, everything=everything)
    err = Capture(limits[1], partial(_forward, on_output, "stderr"), SHOWN_BYTES, everything=everything)
    pumps = [_Pump(child.stdout, out, stop.set, everything), _Pump(child.stderr, err, stop.set, everything)]
    exited, gone = _Exit(child.pidfd), _Exit(child.init)
    stopping = asyncio.ensure_future(stop.wait())
    watching = asyncio.ensure_future(watchdog.watch(child.process.pid) if watchdog else _for_ever())
    try:
        ends = [exited.done, stopping, watching]
        done, _ = await asyncio.wait(ends, timeout=timeout_seconds, return_when="FIRST_COMPLETED")
        exceeded = watching.result() if watching in done and exited.done not in done else None
        child.kill()
        _, alive = await asyncio.wait([exited.done, gone.done], timeout=_GRACE if child.keeper else None)
        if alive:
            child.kill_keeper()
            await asyncio.wait(alive)
        code = child.reap()
        await asyncio.wait([pump.done for pump in pumps], timeout=_STRAGGLERS if child.init is None else None)
    finally:
        stopping.cancel()
        watching.cancel()
        for watch in (*pumps, exited, gone):
            watch.close()
    for pump in pumps:
        pump.done.result()
    out.finish()
    err.finish()
    code = 128 - code if code < 0 else code
    ended_by = code - 128 if code in _SIGNALS else None
    stderr = err.text() if exceeded is None else f"{err.text().rstrip()}\n{exceeded}\n".lstrip()
    return Completed(code, out.text(), stderr, not done, out.truncated or err.truncated, ended_by, exceeded)


async def _for_ever() -> str:
    return await asyncio.get_running_loop().create_future()


def _forward(on_output: OnOutput, stream: str, text: str) -> None:
    on_output(text, stream)


def _ignore(text: str, stream: str) -> None:
    del text, stream
