"""Who tools run as. An engine started as root never lends root to a tool: commands get a uid of their own before
anything else happens, and file work runs in threads whose file system identity is that uid, so that the kernel, not
our code, checks permissions and new files belong to it.
"""

import ctypes
import os
import platform
from dataclasses import dataclass

# Outside the ranges that distributions give to people and services and that systemd hands out; unlike 65534
# (nobody) no daemon or network file system shares it.
SANDBOX_UID = 65530
SANDBOX_GID = 65530

_SETGROUPS = {"x86_64": 116, "aarch64": 159, "riscv64": 159}


@dataclass(frozen=True, slots=True)
class Identity:
    """An unprivileged user and group."""

    uid: int = SANDBOX_UID
    gid: int = SANDBOX_GID


def tool_identity() -> Identity | None:
    """The identity tools must take on, or None when the engine itself is unprivileged already."""
    return Identity() if os.geteuid() == 0 else None


def assume_in_thread(identity: Identity) -> None:
    """Give the calling thread, and it alone, the file system identity; raises unless it was really taken on.

    The system call is made directly because the C library applies `setgroups` to every thread of the process.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    number = _SETGROUPS.get(platform.machine())
    if number is None or libc.syscall(ctypes.c_long(number), ctypes.c_size_t(0), None) != 0:
        raise PermissionError(f"this thread cannot give up its groups ({os.strerror(ctypes.get_errno())})")
    libc.setfsgid(ctypes.c_uint(identity.gid))
    libc.setfsuid(ctypes.c_uint(identity.uid))
    keep = ctypes.c_uint(0xFFFFFFFF)
    if libc.setfsgid(keep) != identity.gid or libc.setfsuid(keep) != identity.uid:
        raise PermissionError(f"this thread cannot become uid {identity.uid}")
