"""What the launcher does for a command that may not do it itself: modes and times of files, and sockets.

Landlock does not see these calls, so the filter hands them over while their caller waits. What they name is looked at
as the caller sees it, and nothing is done that was not judged. Loaded by the launcher before it gives up its
privileges.
"""
# ruff: noqa: PTH101, PTH115, PTH116 - pathlib takes longer to load than all the rest

from __future__ import annotations

import errno
import os
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aster.sandbox.launcher import Kernel
    from aster.sandbox.way_out import WayOut

_RECEIVE, _SEND, _STILL_VALID, _ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_ADD_AND_ANSWER = 2
_ADDRESS_BYTES = 8
_AT_FDCWD = -100
_AT_SYMLINK_NOFOLLOW = 0x100
_NOW, _OMIT = (1 << 30) - 1, (1 << 30) - 2


class Broker:
    """Changes modes and times of files for the command, which may do so only where it may write, and makes the
    sockets of one that has a way out.

    A file is opened first and judged after, by the path of what was opened, so nothing can be exchanged between.
    """

    def __init__(
        self, kernel: Kernel, listener: int, places: list[str], calls: dict[int, str], way_out: WayOut | None = None
    ) -> None:
        self._kernel = kernel
        self._way_out = way_out
        self.listener = listener
        self._places = [place.rstrip("/") for place in places]
        self._calls = calls

    def serve(self) -> None:
        """Answer one call; its caller may be gone by now."""
        notice = bytearray(80)
        try:
            self._kernel.ask(self.listener, _RECEIVE, notice)
        except OSError:
            return
        number, caller = struct.unpack_from("=QI", notice)
        call, *_ = struct.unpack_from("=i", notice, 16)
        arguments = struct.unpack_from("=6Q", notice, 32)
        failure, name = 0, self._calls.get(call, "")
        try:
            if name == "socket":
                self._give_socket(number, arguments)
                return
            if name == "connect":
                self._check_address(number, caller, arguments)
            else:
                self._do(name, number, caller, arguments)
        except OSError as error:
            failure = -(error.errno or errno.EPERM)
        try:
            self._kernel.ask(self.listener, _SEND, bytearray(struct.pack("=QqiI", number, 0, failure, 0)))
        except OSError:
            return

    def _give_socket(self, number: int, given: tuple[int, ...]) -> None:
        """The answer to the call is the descriptor that the socket gets on the other side."""
        if self._way_out is None:
            raise PermissionError(errno.EPERM, "no way out")
        made = self._way_out.open(given[1])
        try:
            flags = given[1] & os.O_CLOEXEC
            wanted = struct.pack("=QIIII", number, _ADD_AND_ANSWER, made, 0, flags)
            self._kernel.ask(self.listener, _ADD, bytearray(wanted))
        finally:
            os.close(made)

    def _check_address(self, number: int, caller: int, given: tuple[int, ...]) -> None:
        """Every socket there is leads to the proxy already, so nothing is done, only told."""
        address = _memory(caller, given[1], _ADDRESS_BYTES)
        self._kernel.ask(self.listener, _STILL_VALID, bytearray(struct.pack("=Q", number)))
        if self._way_out is None or not self._way_out.leads_to(address):
            raise ConnectionRefusedError(errno.ECONNREFUSED, "elsewhere")

    def _do(self, name: str, number: int, caller: int, given: tuple[int, ...]) -> None:
        if name == "chmod":
            directory, path, wanted, flags = _AT_FDCWD, given[0], given[1], 0
        else:
            directory, path, wanted = _signed(given[0]), given[1], given[2]
            flags = 0 if name == "fchmodat" else given[3]
        text = b"" if path == 0 else _string(caller, path)
        times = _times(caller, wanted) if name == "utimensat" else None
        self._kernel.ask(self.listener, _STILL_VALID, bytearray(struct.pack("=Q", number)))
        file = _opened(caller, directory, text, bool(flags & _AT_SYMLINK_NOFOLLOW))
        try:
            self._apply(file, wanted, times)
        finally:
            os.close(file)

    def _apply(self, file: int, mode: int, times: tuple[int, int, int, int] | None) -> None:
        itself = f"/proc/self/fd/{file}"
        path = os.readlink(itself)
        if not any(path == place or path.startswith(place + "/") for place in self._places):
            raise PermissionError(errno.EPERM, "outside")
        if times is None:
            os.chmod(itself, mode & 0o7777)
        else:
            before = os.stat(itself)
            accessed = _moment(times[0], times[1], before.st_atime_ns)
            modified = _moment(times[2], times[3], before.st_mtime_ns)
            os.utime(itself, ns=(accessed, modified))


def _signed(value: int) -> int:
    return struct.unpack("=i", struct.pack("=I", value & 0xFFFFFFFF))[0]


def _string(caller: int, address: int) -> bytes:
    text, _, _ = _memory(caller, address, 4096).partition(b"\0")
    if not text:
        raise FileNotFoundError(errno.ENOENT, "empty")
    return text


def _times(caller: int, address: int) -> tuple[int, int, int, int]:
    if address == 0:
        return (0, _NOW, 0, _NOW)
    return struct.unpack("=qqqq", _memory(caller, address, 32))


def _memory(caller: int, address: int, size: int) -> bytes:
    """What the caller has at an address; less when its memory ends there."""
    fd = os.open(f"/proc/{caller}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        first = min(size, 4096 - address % 4096)
        found = os.pread(fd, first, address)
        if first < size and b"\0" not in found:
            found += os.pread(fd, size - first, address + first)
        return found
    finally:
        os.close(fd)


def _opened(caller: int, directory: int, path: bytes, is_link: bool) -> int:
    """The file the caller means, held without being opened for anything."""
    flags = os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if is_link else 0)
    if path.startswith(b"/proc/self/"):
        path = b"/proc/%d/" % caller + path.removeprefix(b"/proc/self/")
    if path.startswith(b"/"):
        return os.open(path, flags)
    base = f"/proc/{caller}/cwd" if directory == _AT_FDCWD else f"/proc/{caller}/fd/{directory}"
    if not path:
        return os.open(base, os.O_PATH | os.O_CLOEXEC)
    place = os.open(base, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.open(path, flags, dir_fd=place)
    finally:
        os.close(place)


def _moment(seconds: int, nanoseconds: int, before: int) -> int:
    if nanoseconds == _NOW:
        return time.time_ns()
    return before if nanoseconds == _OMIT else seconds * 1_000_000_000 + nanoseconds
