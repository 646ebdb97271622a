"""The filter, executed here instruction by instruction, for each machine it knows."""

import struct

import pytest

from aster.sandbox import seccomp

ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x50001, 0x50026, 0x50061
EOPNOTSUPP, BROKER = 0x5005F, 0x7FC00000
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would say to a system call."""
    return executed(seccomp.program(machine), machine, number, *arguments, arch=arch)


def executed(program: bytes | None, machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    assert program is not None
    steps = list(struct.iter_unpack("=HBBI", program))
    given = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, *given)
    accumulator = at = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x35:
                at += if_true if accumulator >= value else if_false
            case 0x45:
                at += if_true if accumulator & value else if_false
            case _:
                assert code == 0x06
                return value


@pytest.mark.parametrize("machine", ARCH)
@pytest.mark.parametrize(
    ("calls", "arguments", "plain", "outward"),
    [
        ((41, 198), (2, 1), EPERM, BROKER),  # socket, a stream of IPv4
        ((41, 198), (2, 0o2004001, 6), EPERM, BROKER),  # the same, not blocking and closed on exec
        ((41, 198), (2, 2), EPERM, EPERM),  # datagrams
        ((41, 198), (2, 3), EPERM, EPERM),  # raw
        ((41, 198), (10, 1), EPERM, EPERM),  # IPv6
        ((41, 198), (1, 1), EPERM, EPERM),  # unix
        ((41, 198), (16, 3), EPERM, EPERM),  # netlink
        ((42, 203), (), ALLOW, BROKER),  # connect
        ((49, 200), (), ALLOW, EPERM),  # bind
        ((50, 201), (), ALLOW, EPERM),  # listen
        ((43, 202), (), ALLOW, EPERM),  # accept
        ((288, 242), (), ALLOW, EPERM),  # accept4
        ((44, 206), (0, 0, 0, 0x4000), ALLOW, ALLOW),  # sendto
        ((44, 206), (0, 0, 0, 0x20004000), ALLOW, EPERM),  # sendto that connects
        ((46, 211), (0, 0, 0x20000000), ALLOW, EPERM),  # sendmsg that connects
        ((307, 269), (0, 0, 0, 0x20000000), ALLOW, EPERM),  # sendmmsg that connects
        ((16, 29), (0, 0x8912), ALLOW, EPERM),  # ioctl, addresses of the machine
        ((16, 29), (0, 0x541B), ALLOW, ALLOW),  # ioctl, how much there is to read
        ((16, 29), (0, 0x5412), EPERM, EPERM),  # ioctl TIOCSTI
        ((90, 53), (), BROKER, BROKER),  # chmod, fchmodat
        ((165, 40), (), EPERM, EPERM),  # mount
        ((53, 199), (1, 1), ALLOW, ALLOW),  # a connected pair
        ((53, 199), (1, 2), EPERM, EPERM),  # a pair of datagram sockets
        ((0, 63), (), ALLOW, ALLOW),  # read
    ],
)
def test_with_a_way_out_only_plain_streams_are_left_to_the_launcher(
    machine: str, calls: tuple[int, int], arguments: tuple[int, ...], plain: int, outward: int
) -> None:
    number = calls[list(ARCH).index(machine)]
    assert executed(seccomp.program(machine, shared=True), machine, number, *arguments) == plain
    assert executed(seccomp.program(machine, shared=True, out=True), machine, number, *arguments) == outward


@pytest.mark.parametrize(
    ("machine", "call", "arguments", "expected"),
    [
        ("x86_64", 0, (), ALLOW),  # read
        ("x86_64", 59, (), ALLOW),  # execve
        ("x86_64", 165, (), EPERM),  # mount
        ("x86_64", 101, (), EPERM),  # ptrace
        ("x86_64", 321, (), EPERM),  # bpf
        ("x86_64", 153, (), EPERM),  # vhangup, the last of the table
        ("x86_64", 56, (0x11,), ALLOW),  # clone for fork
        ("x86_64", 56, (0x3D0F00,), ALLOW),  # clone for a thread
        ("x86_64", 56, (0x10000011,), EPERM),  # clone with CLONE_NEWUSER
        ("x86_64", 56, (0x00020000,), EPERM),  # clone with CLONE_NEWNS
        ("x86_64", 435, (), ENOSYS),  # clone3
        ("x86_64", 16, (0, 0x5401), ALLOW),  # ioctl TCGETS
        ("x86_64", 16, (0, 0x5412), EPERM),  # ioctl TIOCSTI
        ("x86_64", 41, (1,), ALLOW),  # socket AF_UNIX
        ("x86_64", 41, (2,), ALLOW),  # socket AF_INET
        ("x86_64", 41, (40,), EAFNOSUPPORT),  # socket AF_VSOCK
        ("x86_64", 0x40000000 + 165, (), ENOSYS),  # mount by its x32 number
        ("x86_64", 319, (), ENOSYS),  # memfd_create
        ("x86_64", 285, (), EOPNOTSUPP),  # fallocate
        ("x86_64", 90, (), ALLOW),  # chmod
        ("aarch64", 63, (), ALLOW),  # read
        ("aarch64", 40, (), EPERM),  # mount
        ("aarch64", 97, (), EPERM),  # unshare
        ("aarch64", 220, (0x11,), ALLOW),
        ("aarch64", 220, (0x20000000,), EPERM),  # clone with CLONE_NEWPID
        ("aarch64", 198, (40,), EAFNOSUPPORT),
        ("aarch64", 198, (10,), ALLOW),
    ],
)
def test_the_verdict_on_a_call(machine: str, call: int, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(machine, call, *arguments) == expected


@pytest.mark.parametrize(
    ("machine", "call", "arguments", "expected"),
    [
        ("x86_64", 59, (), ALLOW),  # execve
        ("x86_64", 165, (), EPERM),  # mount
        ("x86_64", 41, (1,), EPERM),  # socket AF_UNIX
        ("x86_64", 41, (2,), EPERM),  # socket AF_INET
        ("x86_64", 53, (1, 1), ALLOW),  # socketpair of streams
        ("x86_64", 53, (1, 0x80801), ALLOW),  # the same, closed on exec and not blocking
        ("x86_64", 53, (1, 2), EPERM),  # socketpair of datagrams
        ("x86_64", 53, (1, 0x80802), EPERM),
        ("x86_64", 90, (), BROKER),  # chmod
        ("x86_64", 280, (), BROKER),  # utimensat
        ("x86_64", 91, (), ALLOW),  # fchmod
        ("x86_64", 92, (), EPERM),  # chown
        ("x86_64", 188, (), EOPNOTSUPP),  # setxattr
        ("x86_64", 302, (0,), ALLOW),  # prlimit64 of the caller
        ("x86_64", 302, (77,), EPERM),
        ("x86_64", 141, (0, 0), ALLOW),  # setpriority of the caller
        ("x86_64", 141, (0, 77), EPERM),
        ("x86_64", 141, (2, 0), EPERM),  # setpriority of a user
        ("x86_64", 251, (1, 77), EPERM),  # ioprio_set
        ("x86_64", 29, (), EPERM),  # shmget
        ("aarch64", 53, (), BROKER),  # fchmodat
        ("aarch64", 198, (1,), EPERM),
        ("aarch64", 261, (77,), EPERM),
    ],
)
def test_the_verdict_beside_other_processes(
    machine: str, call: int, arguments: tuple[int, ...], expected: int
) -> None:
    assert executed(seccomp.program(machine, shared=True), machine, call, *arguments) == expected


@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [(90, (), EPERM), (302, (77,), EPERM), (302, (0,), ALLOW), (41, (2,), ALLOW), (188, (), EOPNOTSUPP)],
)
def test_the_supplement_denies_what_sandlock_leaves_open(
    call: int, arguments: tuple[int, ...], expected: int
) -> None:
    assert executed(seccomp.supplement("x86_64"), "x86_64", call, *arguments) == expected


def test_calls_of_another_architecture_end_the_process() -> None:
    assert verdict("x86_64", 0, arch=0x40000003) == KILL


def test_an_unknown_machine_gets_no_filter() -> None:
    assert seccomp.program("mips") is None
    assert seccomp.supplement("mips") is None
