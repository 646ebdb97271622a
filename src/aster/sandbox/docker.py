"""Isolation by a container per command, for operators who ask for it with `SANDBOX=docker`.

The roots are mounted at their own paths, so the daemon must see the same files as the engine. The container's first
process ends the container when it is told to terminate, which is also what it is told when the engine dies.
"""

import csv
import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from aster.sandbox import host, process
from aster.sandbox.backend import Command, Completed, OnOutput, SandboxReport, unavailable
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits
from aster.sandbox.watchdog import Watchdog

_FIRST = 'trap "exit 137" TERM; "$@" & wait "$!"'
_OF_THE_CLIENT = ("HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
SCRATCH = Path("/tmp")  # noqa: S108 - a tmpfs that only one container ever sees


class Docker:
    """Runs each command in a container of the given image."""

    scratch: Path | None = SCRATCH
    carries_egress = False

    def __init__(self, image: str, limits: Limits, identity: Identity | None) -> None:
        self.report = SandboxReport(
            backend="docker",
            ok=True,
            reason=f"A command in a container of {image} saw only its workspace, no network and no environment.",
        )
        self.limits = limits
        self.identity = identity
        self.files = FileThreads(identity)
        self._image = image

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        """Run a command. `SANDBOX_UNAVAILABLE` means that no container could be made."""
        if command.egress is not None:
            raise unavailable("containers are given no way to the network; SANDBOX=bubblewrap has one")
        limits = command.limits or self.limits
        with tempfile.TemporaryDirectory(prefix="aster-docker-") as directory:
            made = Path(directory, "container")
            done = await process.run(
                lambda: self._start(command, limits, made),
                timeout_seconds=command.timeout_seconds,
                limits=(command.stdout_bytes, command.stderr_bytes),
                everything=command.everything,
                watchdog=Watchdog(limits, command.workspace.cwd),
                on_output=on_output,
            )
            if not made.exists() and not done.timed_out:
                raise unavailable(done.stderr)
            return done

    def close(self) -> None:
        self.files.close()

    def _start(self, command: Command, limits: Limits, made: Path) -> process.Child:
        given = {name: os.environ[name] for name in _OF_THE_CLIENT if name in os.environ}
        argv = [*_dying_with_us(), *arguments(self._image, command, limits, self.identity, made)]
        child = process.spawn(argv, identity=None, environment={"PATH": host.PATH, **given}, stdio=command.stdio)
        child.keeper = True
        return child


def arguments(
    image: str, command: Command, limits: Limits, identity: Identity | None, made: Path
) -> tuple[str, ...]:
    """The command line of the container; `made` is written once there is one."""
    uid = identity.uid if identity else os.getuid()
    gid = identity.gid if identity else os.getgid()
    workspace = command.workspace
    environment = host.environment(str(workspace.home), **dict(command.environment))
    return (
        *("docker", "run", "--rm", "--name", f"aster-{secrets.token_hex(8)}", "--cidfile", str(made)),
        *("--pull", "never", "--log-driver", "none", "--network", "none", "--read-only", "--ipc", "private"),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", f"{uid}:{gid}"),
        *("--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes)),
        *("--pids-limit", str(limits.processes), "--ulimit", f"nofile={limits.open_files}"),
        *("--ulimit", f"fsize={limits.file_bytes}", "--ulimit", "core=0", "--ulimit", f"cpu={limits.cpu_seconds}"),
        *("--tmpfs", f"{SCRATCH}:rw,nosuid,nodev,exec,mode=1777,size={limits.scratch_bytes}"),
        *(("--interactive",) if command.stdio else ()),
        *(part for mount in _mounts(command) for part in ("--mount", mount)),
        *(part for name, value in environment.items() for part in ("--env", f"{name}={value}")),
        *(
            "--workdir",
            str(workspace.cwd),
            "--entrypoint",
            "/bin/bash",
            image,
            "-c",
            _FIRST,
            "first",
            *command.argv,
        ),
    )


def _mounts(command: Command) -> Iterator[str]:
    """The roots, and an empty place over what is hidden in them."""
    workspace = command.workspace
    for place in command.readable:
        yield _fields("type=bind", f"src={place}", f"dst={place}", "readonly")
    for root in (*workspace.roots, *workspace.beside):
        yield _fields("type=bind", f"src={root}", f"dst={root}")
    for place in workspace.hidden:
        if any(place.is_relative_to(root) and place != root for root in workspace.roots):
            yield _fields("type=tmpfs", f"dst={place}", "tmpfs-mode=0555")


def _fields(*fields: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(fields)
    return out.getvalue()


def _dying_with_us() -> tuple[str, ...]:
    """The client is told to terminate when the engine dies, and passes that on."""
    program = shutil.which("setpriv", path=host.PATH)
    return (program, "--pdeathsig", "TERM") if program else ()


def missing() -> str | None:
    """What this machine lacks for it; whether a daemon answers, a probe will tell."""
    return None if shutil.which("docker", path=host.PATH) else "the docker command is not installed"
