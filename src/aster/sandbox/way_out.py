"""The way out of a command that has no network of its own, made by its launcher.

The command's calls for a socket never reach the kernel: the launcher answers each with one that is connected to the
engine's proxy already, and a call to connect it is answered without being made. So nothing a command asks for ever
reaches network code with an address of its choice. Loaded by the launcher before it gives up its privileges.
"""

from __future__ import annotations

import _socket
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = "127.0.0.1"
_SECONDS = 1.0
_NONBLOCKING = os.O_NONBLOCK
_RIGHTS = 1


class WayOut:
    """Hands connections to the engine through `engine`, a descriptor the command has no part in; the command finds
    them at `port`."""

    def __init__(self, engine: int, port: int) -> None:
        self._engine = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, engine)
        self._engine.settimeout(_SECONDS)
        self._address = struct.pack("=H", _socket.AF_INET) + struct.pack("!H", port) + _socket.inet_aton(_HERE)

    def open(self, kind: int) -> int:
        """A socket of this kind whose other end is the engine's."""
        near, far = _connected()
        with far:
            rights = (_socket.SOL_SOCKET, _RIGHTS, struct.pack("=i", far.fileno()))
            self._engine.sendmsg([b"\0"], [rights])
        near.setblocking(not kind & _NONBLOCKING)
        return near.detach()

    def leads_to(self, address: bytes) -> bool:
        """Whether an address, as a program gives it to the kernel, is the proxy's."""
        return address.startswith(self._address)


class _Socket(_socket.socket):
    """Closes itself."""

    def __enter__(self) -> _Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _connected() -> tuple[_Socket, _Socket]:
    """Two ends of one connection. Another program of the machine may come first: its end is not ours."""
    with _Socket(_socket.AF_INET, _socket.SOCK_STREAM) as listener:
        listener.settimeout(_SECONDS)
        listener.bind((_HERE, 0))
        listener.listen(8)
        near = _Socket(_socket.AF_INET, _socket.SOCK_STREAM)
        try:
            near.settimeout(_SECONDS)
            near.connect(listener.getsockname())
            accept: Callable[[], tuple[int, object]] = getattr(listener, "_accept")  # noqa: B009 - not in its types
            while True:
                accepted, peer = accept()
                far = _Socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, accepted)
                if peer == near.getsockname():
                    return near, far
                far.close()
        except OSError:
            near.close()
            raise
