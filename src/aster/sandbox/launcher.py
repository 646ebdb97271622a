"""The first process of a command that has no namespaces: it takes the privileges away, confines the command with
Landlock and a system call filter, and stays to end everything the command has started.

It is the program of a process of its own for every command, mostly started before there is one; it imports only the
little that loads at once, while it still may. Two Landlock domains make it safe to kill with one system call: the
outer one keeps the launcher's signals among its own descendants, the inner one the command's off the launcher.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aster.sandbox.broker import Broker
    from aster.sandbox.way_out import WayOut

    Confine = Callable[["Kernel", "Order"], int]
    Execute = Callable[["Order"], None]
    Serve = Callable[["Kernel", int, list[str], dict[int, str], "WayOut | None"], Broker]
    Leave = Callable[[int, int], WayOut]

LEAST_ABI = 6
"""The first that confines signals and abstract sockets; Linux 6.12."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PIDFD_GETFD = 438
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_KILL, _PIPE, _TERMINATE, _FILE_SIZE = 9, 13, 15, 25
_BLOCK, _UNBLOCK = 0, 1
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38

# Rights on files: execute, write, read, list, remove (2), make (7), refer, truncate, ioctl on devices.
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_TRUNCATE, _DEVICE_IOCTL = 1 << 14, 1 << 15
_ALL = (1 << 16) - 1
_NETWORK = 0b11
_SIGNALS, _ABSTRACT_SOCKETS = 0b10, 0b01
_KIND, _DIRECTORY = 0o170000, 0o040000
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE

RIGHTS = {
    "system": _EXECUTE | _READ | _LIST,
    "read": _READ | _LIST,
    "device": _READ | _WRITE | _TRUNCATE,
    "write": _ALL & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE | _DEVICE_IOCTL),
}

_LISTENER = 8
_TICK_MS = 100


class Refused(Exception):
    """The command cannot be confined, so it is not run."""


class Order:
    """What is to be done: `name=value` until `--`, then the command."""

    def __init__(self, arguments: list[str]) -> None:
        self.argv: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.add(arguments)

    def add(self, arguments: list[str]) -> None:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        self.argv += arguments[end + 1 :]
        for argument in arguments[:end]:
            name, _, value = argument.partition("=")
            self.values.setdefault(name, []).append(value)

    def wait(self) -> None:
        """The rest comes through a pipe once there is a command; without one this process was not needed."""
        pipe = self.one("order")
        if pipe is None:
            return
        with os.fdopen(int(pipe), "rb") as rest:
            text = os.fsdecode(rest.read())
        if not text:
            os._exit(0)
        self.add(text.split("\0"))

    @property
    def environment(self) -> dict[str, str]:
        parts = (variable.partition("=") for variable in self.each("env"))
        return {name: value for name, _, value in parts}

    def one(self, name: str) -> str | None:
        return self.values.get(name, [None])[0]

    def each(self, name: str) -> list[str]:
        return self.values.get(name, [])


class Kernel:
    """System calls that Python has no function for."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def call(self, what: str, number: int, *arguments: object) -> int:
        return self._checked(what, self._libc.syscall(ctypes.c_long(number), *arguments))

    def prctl(self, what: str, option: int, value: int) -> None:
        zero = ctypes.c_ulong(0)
        self._checked(what, self._libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero))

    def hold_back(self, number: int, how: int) -> bytes:
        """Block or unblock a signal; the set it stands in."""
        signals = struct.pack("=Q", 1 << (number - 1)).ljust(128, b"\0")
        self._checked("signals", self._libc.sigprocmask(ctypes.c_int(how), signals, None))
        return signals

    def arriving(self, number: int) -> int:
        """A descriptor that becomes readable when the signal arrives, which does nothing else any more."""
        signals = self.hold_back(number, _BLOCK)
        return self._checked("signals", self._libc.signalfd(ctypes.c_int(-1), signals, ctypes.c_int(os.O_CLOEXEC)))

    def limit(self, kind: int, value: int) -> None:
        """Set a limit of this process, the soft and the hard one."""
        both = struct.pack("=QQ", value, value)
        self._checked("limits", self._libc.setrlimit(ctypes.c_int(kind), both))

    def ask(self, descriptor: int, request: int, message: bytearray) -> None:
        """An ioctl, whose answer is in the message."""
        buffer = (ctypes.c_char * len(message)).from_buffer(message)
        if self._libc.ioctl(ctypes.c_int(descriptor), ctypes.c_ulong(request), buffer) < 0:
            raise OSError(ctypes.get_errno(), "ioctl")

    def default(self, number: int) -> None:
        """What Python has made of a signal is undone."""
        self._libc.signal(ctypes.c_int(number), None)

    def _checked(self, what: str, result: int) -> int:
        if result < 0:
            raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")
        return result


def landlock_abi() -> int:
    """What the kernel offers; 0 when there is no Landlock."""
    try:
        return Kernel().call("landlock", _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except Refused:
        return 0


def give_up_privileges(kernel: Kernel, uid: str | None, gid: str | None) -> None:
    if uid is not None and gid is not None:
        os.setgroups([])
        os.setresgid(int(gid), int(gid), int(gid))
        os.setresuid(int(uid), int(uid), int(uid))
    if os.geteuid() == 0:
        raise Refused("commands are never run as root")
    kernel.prctl("no new privileges", _PR_SET_NO_NEW_PRIVS, 1)
    # After a change of identity a process may not look at its own children; Landlock keeps them from looking back.
    kernel.prctl("dumpable", _PR_SET_DUMPABLE, 1)


def die_with(kernel: Kernel, parent: int) -> None:
    kernel.prctl("subreaper", _PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl("death signal", _PR_SET_PDEATHSIG, _TERMINATE)
    if os.getppid() != parent:
        raise Refused("the engine is gone")


def enter_domain(kernel: Kernel, files: int, network: int, scopes: int, rules: dict[str, int]) -> None:
    """Confine this process: what is handled is forbidden, except where a rule allows it."""
    handled = ctypes.create_string_buffer(struct.pack("=QQQ", files, network, scopes), 24)
    ruleset = kernel.call("landlock", _CREATE_RULESET, handled, ctypes.c_size_t(24), ctypes.c_uint32(0))
    for path, rights in rules.items():
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise Refused(f"{path}: {error.strerror}") from error
        if os.fstat(place).st_mode & _KIND != _DIRECTORY:
            rights &= _OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        kernel.call(
            f"landlock, {path}", _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0)
        )
        os.close(place)
    kernel.call("landlock", _RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def filter_calls(kernel: Kernel, program: bytes, flags: int = 0) -> int:
    """Put the filter in place; with `_LISTENER` the descriptor on which the calls for the broker arrive."""
    steps = ctypes.create_string_buffer(program, len(program))
    pointer = ctypes.cast(steps, ctypes.c_void_p).value or 0
    description = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, pointer))
    number = _SECCOMP[os.uname().machine]
    return kernel.call("seccomp", number, ctypes.c_uint(1), ctypes.c_uint(flags), description)


class Keeper:
    """Waits for the command, reaps what it leaves behind, and at its end kills everything below this process."""

    def __init__(self, command: int, ending: int, broker: Broker | None) -> None:
        self._command = command
        self._ending = ending
        self._broker = broker

    def keep(self) -> int:
        """The command's end: its exit code, or the negative signal; also when the engine wants it."""
        poll = select.poll()
        poll.register(os.pidfd_open(self._command), select.POLLIN)
        poll.register(self._ending, select.POLLIN)
        if self._broker is not None:
            poll.register(self._broker.listener, select.POLLIN)
        while True:
            for fd, happened in poll.poll(_TICK_MS):
                if fd == self._ending:
                    return -_KILL
                if self._broker is not None and fd == self._broker.listener:
                    if happened & select.POLLIN:
                        self._broker.serve()
                    else:
                        poll.unregister(fd)
            for pid, status in _ended():
                if pid == self._command:
                    return os.waitstatus_to_exitcode(status)


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def end_all(code: int) -> None:
    """One signal to all that this process can reach, which its domain makes its descendants and nothing else; the
    kernel sends it to all at once, so that nothing can be forked away from it."""
    try:
        os.kill(-1, _KILL)
    except OSError:
        pass
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        os._exit(128 - code if code < 0 else code)


def start(kernel: Kernel, order: Order, confine: Confine, execute: Execute, complain: int) -> tuple[int, int]:
    """The command's process, confined and running, and the descriptor of its brokered calls (negative: none)."""
    told, tell = os.pipe()
    wait, go = os.pipe()
    command = os.fork()
    if command == 0:
        os.close(go)
        for kept in (complain, *map(int, order.each("engine"))):
            os.set_inheritable(kept, False)
        try:
            kernel.hold_back(_TERMINATE, _UNBLOCK)
            for number in (_PIPE, _FILE_SIZE):
                kernel.default(number)
            limit(kernel, order)
            os.write(tell, b"%d\n" % confine(kernel, order))
            if os.read(wait, 1):
                execute(order)
        except (OSError, Refused) as error:
            os.write(complain, str(error).encode())
        finally:
            os._exit(125)
    os.close(tell)
    os.close(wait)
    answer = os.read(told, 32)
    listener = int(answer) if answer else -1
    if listener >= 0:
        held = ctypes.c_int(os.pidfd_open(command))
        zero = ctypes.c_uint(0)
        listener = kernel.call("listener", _PIDFD_GETFD, held, ctypes.c_int(listener), zero)
    os.write(go, b"\n")
    return command, listener


def limit(kernel: Kernel, order: Order) -> None:
    """Set the limits, for good, and offer the command first when the machine's memory runs out."""
    for kind, _, value in (one.partition(":") for one in order.each("limit")):
        kernel.limit(int(kind), int(value))
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    os.write(score, b"1000")
    os.close(score)


def become(order: Order) -> None:
    """Turn this process into the command."""
    os.chdir(order.one("cwd") or "/")
    os.execve(order.argv[0], order.argv, order.environment)  # noqa: S606 - the point of it all


def confine_here(kernel: Kernel, order: Order) -> int:
    """The inner domain and the filter, for the process that becomes the command."""
    rules = {path: rights for kind, rights in RIGHTS.items() for path in order.each(kind)}
    enter_domain(kernel, _ALL, _NETWORK, _SIGNALS | _ABSTRACT_SOCKETS, rules)
    program = order.one("filter_out" if order.one("out") else "filter")
    return filter_calls(kernel, bytes.fromhex(program or ""), _LISTENER)


def main(
    arguments: list[str],
    confine: Confine = confine_here,
    execute: Execute = become,
    serve: Serve | None = None,
    leave: Leave | None = None,
) -> None:
    order = Order(arguments)
    complain = int(order.one("complain") or "2")
    kernel = Kernel()
    try:
        give_up_privileges(kernel, order.one("uid"), order.one("gid"))
        enter_domain(kernel, 0, 0, _SIGNALS, {})
        ending = kernel.arriving(_TERMINATE)
        die_with(kernel, int(order.one("parent") or "0"))
        order.wait()
        command, listener = start(kernel, order, confine, execute, complain)
    except (OSError, Refused) as error:
        os.write(complain, str(error).encode())
        os._exit(125)
    calls = {int(number): name for name, _, number in (call.partition(":") for call in order.each("broker"))}
    engine, port = order.one("engine"), order.one("out")
    way_out = leave(int(engine), int(port)) if leave is not None and engine and port else None
    broker = None
    if serve is not None and listener >= 0:
        broker = serve(kernel, listener, order.each("write"), calls, way_out)
    end_all(Keeper(command, ending, broker).keep())


if __name__ == "__main__":
    main(sys.argv[1:])
