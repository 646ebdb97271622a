"""The system calls no tool needs: a filter in the kernel's own classic BPF, built without a library.

Namespaces already make most of these harmless; the filter takes away the kernel code behind them, which is where
escapes come from. Where there are no namespaces (`shared`), it also stands between a command and everything that
reaches other processes of the machine by something else than a file. A machine this table does not know gets no
filter (`program` is None) rather than a wrong one.
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
# Told that these do not exist, programs take the way they have for older kernels, which is counted and limited.
_MISSING: dict[str, tuple[int | None, int | None]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
_FALLOCATE = (285, 47)

_DENIED_SHARED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
}
_DENIED_METADATA: dict[str, tuple[int | None, int | None]] = {
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "file_setattr": (469, 469),
}
_UNSUPPORTED_SHARED: dict[str, tuple[int | None, int | None]] = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
# Landlock does not see these; the launcher does them for the command, where they are allowed.
_BROKERED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utimensat": (280, 88),
}
# With a way out, the launcher also makes the command's sockets; nothing that could use one otherwise is left.
_BROKERED_OUT: dict[str, tuple[int | None, int | None]] = {"socket": (41, 198), "connect": (42, 203)}
_DENIED_OUT: dict[str, tuple[int | None, int | None]] = {
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
}
# Which argument holds the flags of a call that could connect by itself.
_SENDING: dict[str, tuple[tuple[int, int], int]] = {
    "sendto": ((44, 206), 3),
    "sendmsg": ((46, 211), 2),
    "sendmmsg": ((307, 269), 3),
}
# Which argument names a process.
_SELF_ONLY: dict[str, tuple[tuple[int | None, int | None], int]] = {
    "prlimit64": ((302, 261), 0),
    "sched_setparam": ((142, 118), 0),
    "sched_setscheduler": ((144, 119), 0),
    "sched_setaffinity": ((203, 122), 0),
    "sched_setattr": ((314, 274), 0),
    "ioprio_set": ((251, 30), 1),
}
_SETPRIORITY = (141, 140)
_SOCKETPAIR = (53, 199)
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_IOCTL = (16, 29)
_SOCKET = (41, 198)

_NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_OF_INTERFACES = 0x8900
_FAST_OPEN = 0x20000000
_INET = 2
_SOCKET_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; vsock and others are not confined by a namespace
_STREAM, _SEQUENCED = 1, 5  # a pair of datagram sockets could still send to any socket of the machine
_X32_BIT = 0x40000000

_LOAD, _AND, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24

_ALLOW, _KILL, _BROKER = 0x7FFF0000, 0x80000000, 0x7FC00000
_ERRNO = 0x00050000
_EPERM, _ENOSYS, _EOPNOTSUPP, _EAFNOSUPPORT = 1, 38, 95, 97


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


def program(machine: str | None = None, *, shared: bool = False, out: bool = False) -> bytes | None:
    """The filter for this machine, or None when the machine is not in the table; `shared` for a command that has no
    namespaces of its own, `out` for one of those that has a way out."""
    machine = machine or platform.machine()
    column = _COLUMN.get(machine)
    if column is None:
        return None
    refuse = _ERRNO | _EPERM
    built = _beginning(machine)
    built += _each(_DENIED, column, refuse)
    built += _each(_MISSING, column, _ERRNO | _ENOSYS)
    built += _assemble([_Step(_JUMP_EQUAL, _FALLOCATE[column], _ERRNO | _EOPNOTSUPP)])
    # clone3 hides its flags in memory; told it does not exist, the C library falls back to clone.
    built += _assemble([_Step(_JUMP_EQUAL, _CLONE3[column], _ERRNO | _ENOSYS)])
    built += _only_for(_CLONE[column], [_Step(_LOAD, _ARGUMENT_0), _Step(_JUMP_ANY_BIT, _NAMESPACE_FLAGS, refuse)])
    about_interfaces = [_Step(_AND, 0xFF00), _Step(_JUMP_EQUAL, _OF_INTERFACES, refuse)] if out else []
    built += _only_for(
        _IOCTL[column],
        [
            _Step(_LOAD, _ARGUMENT_1),
            _Step(_JUMP_EQUAL, _TIOCSTI, refuse),
            _Step(_JUMP_EQUAL, _TIOCLINUX, refuse),
            *about_interfaces,
        ],
    )
    if out:
        built += _way_out(column)
    built += _among_others(column) if shared else _families(column)
    return built + _assemble([_Step(_RETURN, _ALLOW)])


def supplement(machine: str | None = None) -> bytes | None:
    """Only what sandlock leaves open: metadata of files by their path, and other processes by their number."""
    machine = machine or platform.machine()
    column = _COLUMN.get(machine)
    if column is None:
        return None
    out = _beginning(machine) + _metadata(column, _ERRNO | _EPERM) + _callers_only(column)
    return out + _assemble([_Step(_RETURN, _ALLOW)])


def _beginning(machine: str) -> bytes:
    """Calls of another architecture, whose numbers mean something else, go no further."""
    out = _assemble(
        [
            _Step(_LOAD, _ARCH),
            _Step(_JUMP_EQUAL, _AUDIT_ARCH[machine], _KILL, inverted=True),
            _Step(_LOAD, _NUMBER),
        ]
    )
    if machine == "x86_64":
        out += _assemble([_Step(_JUMP_GREATER_EQUAL, _X32_BIT, _ERRNO | _ENOSYS)])
    return out


def brokered() -> dict[str, int]:
    """The calls that a `shared` filter, also one with a way `out`, hands to the launcher, by number on this machine."""
    column, table = _COLUMN.get(platform.machine()), _BROKERED | _BROKERED_OUT
    numbers = {name: number[column] for name, number in table.items()} if column is not None else {}
    return {name: number for name, number in numbers.items() if number is not None}


def _each(table: dict[str, tuple[int | None, int | None]], column: int, verdict: int) -> bytes:
    numbers = [numbers[column] for numbers in table.values()]
    return _assemble([_Step(_JUMP_EQUAL, number, verdict) for number in numbers if number is not None])


def _families(column: int) -> bytes:
    families = [_Step(_JUMP_EQUAL, family, _ALLOW) for family in _SOCKET_FAMILIES]
    refuse = _Step(_RETURN, _ERRNO | _EAFNOSUPPORT)
    return _only_for(_SOCKET[column], [_Step(_LOAD, _ARGUMENT_0), *families, refuse])


def _among_others(column: int) -> bytes:
    """For a command beside all other processes of the machine: no socket but a connected pair, no shared memory, no
    say over processes by number, and metadata of files only through the broker."""
    refuse = _ERRNO | _EPERM
    out = _each(_DENIED_SHARED, column, refuse) + _metadata(column, _BROKER) + _callers_only(column)
    kinds = [_Step(_JUMP_EQUAL, kind, _ALLOW) for kind in (_STREAM, _SEQUENCED)]
    connected = [_Step(_LOAD, _ARGUMENT_1), _Step(_AND, 0xF), *kinds, _Step(_RETURN, refuse)]
    return out + _only_for(_SOCKETPAIR[column], connected)


def _way_out(column: int) -> bytes:
    """Only plain streams, made and connected by the launcher; whatever else is done with sockets falls to the rules
    behind these, which refuse to make any."""
    refuse = _ERRNO | _EPERM
    built = _each(_DENIED_OUT, column, refuse)
    for numbers, argument in _SENDING.values():
        flags = _Step(_LOAD, _ARGUMENT_0 + 8 * argument)
        built += _only_for(numbers[column], [flags, _Step(_JUMP_ANY_BIT, _FAST_OPEN, refuse)])
    streams = [
        _Step(_LOAD, _ARGUMENT_0),
        _Step(_JUMP_EQUAL, _INET, refuse, inverted=True),
        _Step(_LOAD, _ARGUMENT_1),
        _Step(_AND, 0xF),
        _Step(_JUMP_EQUAL, _STREAM, refuse, inverted=True),
        _Step(_RETURN, _BROKER),
    ]
    socket, connect = (numbers[column] for numbers in _BROKERED_OUT.values())
    assert socket is not None
    assert connect is not None
    return built + _only_for(socket, streams) + _assemble([_Step(_JUMP_EQUAL, connect, _BROKER)])


def _metadata(column: int, verdict: int) -> bytes:
    """Modes and times meet the verdict; the rest of what a path leads to cannot be changed."""
    out = _each(_DENIED_METADATA, column, _ERRNO | _EPERM)
    return out + _each(_UNSUPPORTED_SHARED, column, _ERRNO | _EOPNOTSUPP) + _each(_BROKERED, column, verdict)


def _callers_only(column: int) -> bytes:
    """Limits and priorities of the caller itself; the argument that names another process must be 0."""
    refuse = _ERRNO | _EPERM
    out = b""
    for numbers, argument in _SELF_ONLY.values():
        number = numbers[column]
        assert number is not None
        load = _Step(_LOAD, _ARGUMENT_0 + 8 * argument)
        out += _only_for(number, [load, _Step(_JUMP_EQUAL, 0, refuse, inverted=True)])
    caller = [_Step(_LOAD, where) for where in (_ARGUMENT_0, _ARGUMENT_1)]
    zero = _Step(_JUMP_EQUAL, 0, refuse, inverted=True)
    return out + _only_for(_SETPRIORITY[column], [caller[0], zero, caller[1], zero])
