"""The system calls no tool needs: a filter in the kernel's own classic BPF, built without a library.

Namespaces already make most of these harmless; the filter takes away the kernel code behind them, which is where
escapes come from. A machine this table does not know gets no filter (`program` is None) rather than a wrong one.
"""

import platform
import struct
from dataclasses import dataclass

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

_DENIED: dict[str, tuple[int | None, int | None]] = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "vhangup": (153, 58),
}
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_IOCTL = (16, 29)
_SOCKET = (41, 198)

_NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_SOCKET_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; vsock and others are not confined by a namespace
_X32_BIT = 0x40000000

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_ERRNO = 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction; a jump names its verdict, or None to go on with the next step."""

    code: int
    value: int
    verdict: int | None = None
    inverted: bool = False


def _assemble(steps: list[_Step]) -> bytes:
    """Each conditional step becomes a test that skips or takes the `return` right behind it."""
    out = bytearray()
    for step in steps:
        if step.verdict is None:
            out += struct.pack("=HBBI", step.code, 0, 0, step.value)
            continue
        taken, skipped = (1, 0) if step.inverted else (0, 1)
        out += struct.pack("=HBBI", step.code, taken, skipped, step.value)
        out += struct.pack("=HBBI", _RETURN, 0, 0, step.verdict)
    return bytes(out)


def _only_for(number: int, checks: list[_Step]) -> bytes:
    """The checks, reached by this system call alone; other calls jump over them, number still loaded."""
    body = _assemble(checks) + _assemble([_Step(_RETURN, _ALLOW)])
    return struct.pack("=HBBI", _JUMP_EQUAL, 0, len(body) // 8, number) + body


def program(machine: str | None = None) -> bytes | None:
    """The filter for this machine as bubblewrap reads it, or None when the machine is not in the table."""
    machine = machine or platform.machine()
    if machine not in _COLUMN:
        return None
    column = _COLUMN[machine]
    refuse = _ERRNO | _EPERM
    out = _assemble(
        [
            _Step(_LOAD, _ARCH),
            _Step(_JUMP_EQUAL, _AUDIT_ARCH[machine], _KILL, inverted=True),
            _Step(_LOAD, _NUMBER),
        ]
    )
    if machine == "x86_64":
        out += _assemble([_Step(_JUMP_GREATER_EQUAL, _X32_BIT, _ERRNO | _ENOSYS)])
    numbers = [numbers[column] for numbers in _DENIED.values()]
    out += _assemble([_Step(_JUMP_EQUAL, number, refuse) for number in numbers if number is not None])
    # clone3 hides its flags in memory; told it does not exist, the C library falls back to clone.
    out += _assemble([_Step(_JUMP_EQUAL, _CLONE3[column], _ERRNO | _ENOSYS)])
    out += _only_for(_CLONE[column], [_Step(_LOAD, _ARGUMENT_0), _Step(_JUMP_ANY_BIT, _NAMESPACE_FLAGS, refuse)])
    out += _only_for(
        _IOCTL[column],
        [
            _Step(_LOAD, _ARGUMENT_1),
            _Step(_JUMP_EQUAL, _TIOCSTI, refuse),
            _Step(_JUMP_EQUAL, _TIOCLINUX, refuse),
        ],
    )
    families = [_Step(_JUMP_EQUAL, family, _ALLOW) for family in _SOCKET_FAMILIES]
    out += _only_for(
        _SOCKET[column], [_Step(_LOAD, _ARGUMENT_0), *families, _Step(_RETURN, _ERRNO | _EAFNOSUPPORT)]
    )
    return out + _assemble([_Step(_RETURN, _ALLOW)])
