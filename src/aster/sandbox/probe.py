"""Running a command in a sandbox and looking at what it could do, which is the only proof that the sandbox works.

Everything the command should be kept from is really there for it to find: a file of its own user outside the
workspace, and something that listens on this machine.
"""

import asyncio
import contextlib
import os
import socket
import stat
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

from aster.contracts.errors import EngineError
from aster.sandbox import seccomp
from aster.sandbox.access import open_to
from aster.sandbox.backend import Command, Completed, Sandbox
from aster.sandbox.identity import Identity
from aster.sandbox.paths import Workspace

_SECONDS = 20.0
_LOOK_AROUND = """
[ "$(< inside)" = inside ] && { echo > written; } && echo workspace
[ "$(< "$1")" = outside ] && echo read-outside
{ echo probe >> "$1"; }
chmod 611 "$1"
[ "$UID" = "$2" ] && echo uid
{ : >> /proc/sys/kernel/core_pattern; } && echo kernel
[ -n "$(tr -d '\\0' < /proc/1/environ)" ] && echo environment
echo probe > "/dev/tcp/127.0.0.1/$3"
echo probe > "/dev/udp/127.0.0.1/$3"
while read -r key value _; do
  case $key in NoNewPrivs:|Seccomp:|CapEff:) echo "$key$value" ;; esac
done < /proc/self/status
"""
_NEEDED = {"workspace", "uid"}


async def probe(sandbox: Sandbox) -> str | None:
    """What is wrong with this sandbox here, or None after a command inside could do what it should and no more."""
    with tempfile.TemporaryDirectory(prefix="aster-probe-") as directory, _listening() as (port, heard):
        place = Path(directory).resolve()
        try:
            root, outside = await asyncio.to_thread(_furnish, place, sandbox.identity)
            workspace = Workspace((root,), root)
            uid = str(sandbox.identity.uid if sandbox.identity else os.getuid())
            argv = ("/bin/bash", "-c", _LOOK_AROUND, "probe", str(outside), uid, str(port))
            done = await sandbox.run(Command(argv, workspace, _SECONDS))
        except EngineError as error:
            return str((error.details or {}).get("reason", error.message))
        return _judgement({*done.stdout.split(), *_left_behind(outside), *heard()}, done)


def _left_behind(outside: Path) -> Iterator[str]:
    """What has happened to the file; inside there may be another of that name, which is nobody's business."""
    if outside.read_text() != "outside":
        yield "write-outside"
    if stat.S_IMODE(outside.stat().st_mode) == 0o611:
        yield "change-outside"


def _judgement(seen: set[str], done: Completed) -> str | None:
    filtered = "2" if seccomp.program() is not None else "0"
    fine = {*_NEEDED, "NoNewPrivs:1", f"Seccomp:{filtered}", "CapEff:0000000000000000"}
    if not seen >= _NEEDED:
        return f"a command inside could not work: {done.stderr.strip() or done.stdout.strip()}"
    if not seen <= fine:
        return f"a command inside could do too much: {', '.join(sorted(seen - fine))}"
    return None


def _furnish(place: Path, identity: Identity | None) -> tuple[Path, Path]:
    root, outside = place / "root", place / "outside"
    root.mkdir()
    (root / "inside").write_text("inside")
    outside.write_text("outside")
    if identity is not None:
        open_to(root, identity)
        os.chown(outside, identity.uid, identity.gid)
    return root, outside


@contextlib.contextmanager
def _listening() -> Generator[tuple[int, "Heard"]]:
    with socket.create_server(("127.0.0.1", 0)) as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        port = stream.getsockname()[1]
        with contextlib.suppress(OSError):
            datagrams.bind(("127.0.0.1", port))
        yield port, Heard(stream, datagrams)


class Heard:
    """Whether anything has come from the command."""

    def __init__(self, stream: socket.socket, datagrams: socket.socket) -> None:
        self._sockets = (stream, datagrams)

    def __call__(self) -> Iterator[str]:
        stream, datagrams = self._sockets
        for one in self._sockets:
            one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            stream.accept()[0].close()
            yield "tcp"
        with contextlib.suppress(BlockingIOError):
            datagrams.recv(64)
            yield "udp"
