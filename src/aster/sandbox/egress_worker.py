"""The program that opens a port inside a sandbox's own network, from outside, and hands the socket back.

It steps down to the identity that owns the namespaces, joins them, listens, and is gone: whoever holds the socket
answers what comes, and nothing of it runs or is visible inside. Standard library alone, so that it starts at once.
"""

import ctypes
import fcntl
import os
import socket
import sys

_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_WAITING = 128


def main(handed: int, port: int, uid: int, gid: int) -> None:
    """`handed` is a unix socket that tells a process in the network and takes the listening socket; a `uid` below
    zero stays who it is."""
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    libc = ctypes.CDLL(None, use_errno=True)
    near = socket.socket(fileno=handed)
    told = near.recv(32)
    if not told:
        return
    network = os.open(f"/proc/{int(told)}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    for namespace, kind in ((owner, _CLONE_NEWUSER), (network, _CLONE_NEWNET)):
        if libc.setns(namespace, kind) != 0:
            raise OSError(ctypes.get_errno(), "the network of the sandbox cannot be joined")
    listener = socket.socket()
    # Its loopback may not be up yet, which only a binding to one address would mind; there is nothing else.
    listener.bind(("0.0.0.0", port))  # noqa: S104
    listener.listen(_WAITING)
    socket.send_fds(near, [b"."], [listener.fileno()])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
