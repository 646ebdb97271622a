"""A socket of the engine's that listens in the network of a sandbox. A command can connect to it and to nothing
else; what answers runs outside, where the command cannot see or stop it.
"""

import contextlib
import socket
import subprocess
import sys

from aster.sandbox import egress_worker
from aster.sandbox.backend import unavailable
from aster.sandbox.identity import Identity

_SECONDS = 10.0


class InsideListener:
    """Made before the sandbox, so that its worker is ready when the network is; `identity` is who makes that."""

    def __init__(self, port: int, identity: Identity | None) -> None:
        self._near, far = socket.socketpair()
        self._near.settimeout(_SECONDS)
        who = (identity.uid, identity.gid) if identity else (-1, -1)
        with far:
            # The interpreter may lie where only the engine can read it, so it starts as the engine and steps down.
            argv = [sys.executable, "-I", "-S", egress_worker.__file__, *map(str, (far.fileno(), port, *who))]
            try:
                self._worker = subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env={}, pass_fds=[far.fileno()]
                )
            except BaseException:
                self._near.close()
                raise

    def open(self, pid: int) -> socket.socket:
        """The socket in the network of this process; blocks for a few milliseconds."""
        try:
            self._near.sendall(f"{pid}\n".encode())
            _, fds, _, _ = socket.recv_fds(self._near, 1, 1)
        except OSError:
            fds = []
        if not fds:
            self._worker.kill()
            _, complaint = self._worker.communicate()
            raise unavailable(f"its way to the network: {complaint.decode(errors='replace').strip()[-500:]}")
        return socket.socket(fileno=fds[0])

    def close(self) -> None:
        self._near.close()
        self._worker.kill()
        with contextlib.suppress(ValueError):
            self._worker.communicate()
