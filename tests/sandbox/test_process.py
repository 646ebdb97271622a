"""A command from start to reaped: its output while it runs, and the end of everything it started."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Completed, OnOutput, Sandbox
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import choose
from aster.sandbox.unconfined import Unconfined
from aster.sandbox.workspaces import Workspaces
from tests.sandbox.backends import settings_for, working
from tests.sandbox.processes import alive, daemon, open_files, sleeper, token


@pytest.fixture(params=working())
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return settings_for(tmp_path, SANDBOX=request.param)


async def run(
    sandbox: Sandbox, workspace: Workspace, script: str, seconds: float = 20, on_output: OnOutput | None = None
) -> Completed:
    return await sandbox.run(Command.shell(script, workspace, seconds), on_output)


class Heard:
    """Everything a callback was told, and an event for its first word."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, str]] = []
        self.first = asyncio.Event()

    def __call__(self, text: str, stream: str) -> None:
        self.pieces.append((text, stream))
        self.first.set()

    def text(self, stream: str) -> str:
        return "".join(text for text, name in self.pieces if name == stream)


async def test_output_is_heard_while_the_command_runs(sandbox: Sandbox, workspace: Workspace) -> None:
    os.mkfifo(workspace.cwd / "pipe")
    (workspace.cwd / "pipe").chmod(0o666)
    heard = Heard()
    task = asyncio.create_task(run(sandbox, workspace, "echo one; cat pipe; echo no >&2", on_output=heard))
    await heard.first.wait()
    assert (heard.pieces, task.done()) == ([("one\n", "stdout")], False)
    await asyncio.to_thread((workspace.cwd / "pipe").write_text, "two\n")
    done = await task
    assert heard.text("stdout") == done.stdout == "one\ntwo\n"
    assert heard.text("stderr") == done.stderr == "no\n"


async def test_long_output_keeps_head_and_tail(sandbox: Sandbox, workspace: Workspace) -> None:
    heard = Heard()
    done = await run(sandbox, workspace, "seq 1 400000; seq 1 90000 >&2", on_output=heard)
    assert done.truncated
    for text, last, limit in ((done.stdout, "400000", 40_000), (done.stderr, "90000", 10_000)):
        assert text.startswith("1\n2\n3\n")
        assert text.endswith(f"{last}\n")
        assert "bytes cut" in text
        assert limit - 10 <= len(text) <= limit + 60
    assert len(heard.text("stdout")) < 41_000


async def test_a_time_out_kills_a_daemon_too(sandbox: Sandbox, workspace: Workspace) -> None:
    name = token()
    began = time.monotonic()
    done = await run(sandbox, workspace, f"{daemon(name)}; echo partial; {sleeper(name)}", seconds=0.5)
    assert (done.timed_out, done.stdout, done.signal) == (True, "partial\n", signal.SIGKILL)
    assert time.monotonic() - began < 5
    assert alive(name) == []


async def test_a_cancellation_kills_a_daemon_too(sandbox: Sandbox, workspace: Workspace) -> None:
    name, heard = token(), Heard()
    script = f"{daemon(name)}; echo ready; {sleeper(name)}"
    task = asyncio.create_task(run(sandbox, workspace, script, on_output=heard))
    await heard.first.wait()
    assert len(alive(name)) >= 1
    task.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(name) == []


async def test_the_end_of_a_command_is_the_end_of_what_it_left_behind(
    sandbox: Sandbox, workspace: Workspace
) -> None:
    name = token()
    done = await run(sandbox, workspace, f"{sleeper(name)} & {daemon(name)}; echo done")
    assert done.stdout == "done\n"
    assert alive(name) == []


async def test_a_cancellation_before_the_start_leaves_nothing(sandbox: Sandbox, workspace: Workspace) -> None:
    name = token()
    for ticks in range(6):
        task = asyncio.create_task(run(sandbox, workspace, sleeper(name)))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive(name) == []


async def test_the_engines_death_is_the_commands_death(tmp_path: Path, settings: Settings) -> None:
    name = token()
    program = f"""
import asyncio, sys
from aster.infra.settings import load
from aster.sandbox.backend import Command
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces

async def main():
    settings = load({{"SQLITE_DB_PATH": {str(settings.sqlite_db_path)!r}, "SANDBOX": {settings.sandbox!r}}}, None)
    sandbox = await choose(settings)
    workspace = await Workspaces(settings, sandbox).of("local", "t1")
    hello = lambda text, stream: sys.stdout.write(text) and sys.stdout.flush()
    await sandbox.run(Command.shell({f"{daemon(name)}; echo up; {sleeper(name)}"!r}, workspace, 60), hello)

asyncio.run(main())
"""
    engine = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert engine.stdout is not None
    assert await engine.stdout.readline() == b"up\n"
    assert len(alive(name)) >= 1
    engine.kill()
    await engine.wait()
    for process in alive(name):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.wait(timeout=10)
    assert alive(name) == []


def test_the_end_of_the_loop_is_the_commands_end(settings: Settings) -> None:
    name = token()

    async def leave() -> tuple[asyncio.Task[Completed], Sandbox]:
        sandbox = await choose(settings)
        workspace = await Workspaces(settings, sandbox).of("local", "t1")
        heard = Heard()
        task = asyncio.create_task(run(sandbox, workspace, f"echo up; {sleeper(name)}", on_output=heard))
        await heard.first.wait()
        return task, sandbox

    task, sandbox = asyncio.run(leave())
    sandbox.close()
    assert task.cancelled()
    assert alive(name) == []


async def test_nothing_leaks(sandbox: Sandbox, workspace: Workspace) -> None:
    await run(sandbox, workspace, "true")
    before, children = open_files(), len(psutil.Process().children())
    for number in range(4):
        await run(sandbox, workspace, "echo hello; echo there >&2; exit 1")
        await run(sandbox, workspace, sleeper(token()), seconds=0.05)
        task = asyncio.create_task(run(sandbox, workspace, sleeper(token())))
        await asyncio.sleep(0.01 * number)
        task.cancel()
        await asyncio.wait([task])
    assert open_files() == before
    assert len(psutil.Process().children()) == children


async def test_a_signal_is_told(sandbox: Sandbox, workspace: Workspace) -> None:
    done = await run(sandbox, workspace, "kill -TERM $$")
    # sandlock says that a signal ended the command, but not which.
    which = signal.SIGKILL if sandbox.report.backend == "sandlock" else signal.SIGTERM
    assert (done.exit_code, done.signal, done.timed_out) == (128 + which, which, False)


async def test_a_failing_listener_ends_the_command_and_is_heard(sandbox: Sandbox, workspace: Workspace) -> None:
    name = token()

    def broken(text: str, stream: str) -> None:
        raise ValueError(f"cannot bear {text.strip()} on {stream}")

    with pytest.raises(ValueError, match="cannot bear hello on stdout"):
        await run(sandbox, workspace, f"echo hello; {sleeper(name)}", on_output=broken)
    assert alive(name) == []


async def test_a_flood_leaves_the_loop_to_others(sandbox: Sandbox, workspace: Workspace) -> None:
    task = asyncio.create_task(run(sandbox, workspace, "yes", seconds=0.6))
    rounds = 0
    while not task.done():
        await asyncio.sleep(0.001)
        rounds += 1
    assert (await task).truncated
    assert rounds > 100


async def test_bytes_that_are_no_text_do_not_stop_it(sandbox: Sandbox, workspace: Workspace) -> None:
    done = await run(sandbox, workspace, r"printf 'a\xff\x00b'")
    assert done.stdout == "a\ufffd\ufffdb"


@pytest.fixture
def unconfined(sandbox: Sandbox) -> Unconfined:
    return Unconfined(Limits(), sandbox.identity)


async def test_without_isolation_the_group_dies_and_a_kept_pipe_does_not_hang(
    unconfined: Unconfined, workspace: Workspace
) -> None:
    name, escaped = token(), token()
    began = time.monotonic()
    done = await run(unconfined, workspace, f"{sleeper(name)} & (setsid {sleeper(escaped)} &); echo done")
    assert (done.stdout, alive(name)) == ("done\n", [])
    assert time.monotonic() - began < 5
    for process in alive(escaped):
        process.kill()
    assert (await run(unconfined, workspace, sleeper(name), seconds=0.1)).timed_out
    assert alive(name) == []
    unconfined.close()


async def test_without_isolation_limits_environment_and_identity_still_hold(
    unconfined: Unconfined, workspace: Workspace
) -> None:
    done = await run(unconfined, workspace, "id -u; ulimit -c; ulimit -n; pwd; env | wc -l")
    uid, core, files, directory, _ = done.stdout.split()
    identity = unconfined.identity
    assert int(uid) == (identity.uid if identity else os.getuid())
    assert (core, files, directory) == ("0", "1024", str(workspace.cwd))
    unconfined.close()
