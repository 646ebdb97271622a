"""Ways out of the sandbox, tried against every backend that works here. Each is refused or contained, with one
clear outcome, and neither the engine nor its neighbours notice.

What is tried is really there to be had: files and processes outside belong to the very user that commands run as,
so that it is the sandbox that stands between and not the permissions of another user.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from aster.contracts.errors import EngineError
from aster.sandbox.backend import Command
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.watchdog import descendants
from tests.sandbox.backends import Box, boxed, reports, working
from tests.sandbox.processes import alive, daemon, sleeper, token

SECRET = "very-secret-value"


@pytest.fixture(params=working())
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Box]:
    async with boxed(request.param, tmp_path) as box:
        yield box
        assert (await box("echo fine")).stdout == "fine\n"


@pytest.fixture
def outside(box: Box, tmp_path: Path) -> Path:
    """A directory beside the workspace whose files the commands' user owns."""
    place = tmp_path / "outside"
    (place / ".ssh").mkdir(parents=True)
    for file in (place / "secret", place / ".ssh" / "id_ed25519", tmp_path / "data" / "brain.sqlite"):
        file.write_text(SECRET)
        owned(box, file)
    for directory in (place, place / ".ssh"):
        owned(box, directory)
    return place


@pytest.fixture
def neighbour(box: Box) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the commands' own user, outside, with something to hide."""
    identity = box.sandbox.identity
    process = subprocess.Popen(
        ["/bin/sleep", "300"],
        env={"SECRET": SECRET},
        user=identity.uid if identity else None,
        group=identity.gid if identity else None,
        extra_groups=() if identity else None,
    )
    yield process
    assert process.poll() is None, "the neighbour was killed"
    process.kill()
    process.wait()


def owned(box: Box, path: Path) -> None:
    if box.sandbox.identity is not None:
        os.chown(path, box.sandbox.identity.uid, box.sandbox.identity.gid)


def state(place: Path) -> dict[str, tuple[int, int, int, int, bytes]]:
    """Everything there is to change about the files of a directory."""
    found: dict[str, tuple[int, int, int, int, bytes]] = {}
    for path in (place, *sorted(place.rglob("*"))):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (info.st_mode, info.st_uid, info.st_gid, info.st_mtime_ns, content)
    return found


def test_the_strongest_backend_is_among_them() -> None:
    assert "bubblewrap" in working(), reports()["bubblewrap"]


@pytest.mark.parametrize("name", ["landlock", "sandlock", "docker"])
def test_a_backend_that_is_not_tried_has_said_why(name: str) -> None:
    report = reports()[name]
    assert report.ok or (report.reason and report.how_to_fix)


async def test_private_files_cannot_be_read(box: Box, outside: Path, tmp_path: Path) -> None:
    script = f"""
    cat /etc/shadow /etc/gshadow {Path.home()}/.ssh/* {Path.home()}/.bash_history
    cat {outside}/secret {outside}/.ssh/id_ed25519 {tmp_path}/data/brain.sqlite
    ls -A {outside} {outside}/.ssh {tmp_path}/data {Path.home()}
    cp -r {outside} copied; cat copied/*; tar c {outside} | cat
    exec 3< {outside}/secret; cat <&3
    """
    done = await box(script)
    assert SECRET not in done.stdout
    assert "root:" not in done.stdout
    assert "id_ed25519" not in done.stdout


async def test_the_environment_of_others_cannot_be_read(box: Box, neighbour: subprocess.Popen[bytes]) -> None:
    engine = os.getpid()
    done = await box(
        f"cat /proc/{neighbour.pid}/environ /proc/{engine}/environ /proc/*/environ /proc/1/task/*/environ; env"
    )
    assert SECRET not in done.stdout
    assert not set(done.stdout.replace("\0", "\n").splitlines()) & {
        f"{name}={value}"
        for name, value in os.environ.items()
        if name not in ("LANG", "TERM", "SHLVL", "PATH", "PWD")
    }


async def test_the_processes_of_the_machine_cannot_be_looked_into(
    box: Box, neighbour: subprocess.Popen[bytes]
) -> None:
    pid = neighbour.pid
    done = await box(
        f"cat /proc/{pid}/cmdline /proc/{pid}/maps; ls -lL /proc/{pid}/fd /proc/{pid}/cwd /proc/{pid}/root;"
        f" head -c 1 /proc/{pid}/mem; cat /proc/{os.getpid()}/cmdline /proc/kcore | head -c 100"
    )
    assert done.stdout == ""


async def test_nothing_outside_can_be_written(box: Box, outside: Path, tmp_path: Path) -> None:
    before = state(tmp_path / "outside"), (tmp_path / "data" / "brain.sqlite").read_text()
    await box(
        f"""
        cd {outside} || true
        echo x > {outside}/secret; echo x >> {outside}/secret; echo x > {outside}/new; : > {outside}/secret
        rm -rf {outside}/secret {outside}/.ssh; mv {outside}/secret .; mv {outside} elsewhere; mkdir {outside}/made
        truncate -s 0 {outside}/secret; dd if=/dev/zero of={outside}/secret count=1
        chmod 777 {outside}/secret {outside}; chmod -R 000 {outside}; chown -R 0 {outside}
        touch -d 2001-01-01 {outside}/secret {outside}; touch {outside}/secret
        setfattr -n user.mine -v 1 {outside}/secret; chattr +i {outside}/secret
        ln {outside}/secret {outside}/second; ln -sf /etc/passwd {outside}/secret; mkfifo {outside}/pipe
        echo x > {tmp_path}/data/brain.sqlite
        for place in / /usr /etc /bin /dev /var /root /home /boot; do touch $place/aster-was-here; done
        """
    )
    assert (state(tmp_path / "outside"), (tmp_path / "data" / "brain.sqlite").read_text()) == before
    assert not [place for place in ("/", "/usr", "/etc", "/var") if Path(place, "aster-was-here").exists()]


async def test_metadata_cannot_be_changed_by_detours(box: Box, outside: Path) -> None:
    """Modes and times by a link, a descriptor, a directory's descriptor, or a path that changes under way."""
    before = state(outside)
    await box(
        f"""
        ln -s {outside}/secret link; chmod 777 link; touch -d 2001-01-01 link; touch -h -d 2001-01-01 link
        ln -s {outside} directory; chmod 777 directory/secret directory ../../../../outside/secret
        chmod 777 {outside}/../outside/./secret /proc/self/root{outside}/secret
        perl -e 'opendir(D, "{outside}"); open(F, "<", "{outside}/secret"); chmod 0777, *F, *D; utime 1, 1, *F'
        for ((i = 0; i < 40; i++)); do
          ln -sfn "$PWD" swap; chmod 777 swap/inside 2>/dev/null & ln -sfn {outside} swap; chmod 777 swap/secret
        done 2>/dev/null; wait
        """
    )
    assert state(outside) == before


async def test_links_lead_nowhere(box: Box, outside: Path) -> None:
    (box.root / "planted").symlink_to(outside / "secret")
    done = await box(
        f"""
        ln -s {outside}/secret soft; cat soft planted; echo x > soft; echo x > planted
        ln {outside}/secret hard && cat hard; ln -s {outside} directory; cat directory/secret; echo x > directory/n
        cat ../../../../outside/secret {box.root}/../../../../outside/secret; ln -s /proc/self/root root
        cat root{outside}/secret; cat /proc/self/cwd/../../../../outside/secret
        """
    )
    assert SECRET not in done.stdout
    assert (outside / "secret").read_text() == SECRET
    assert sorted(path.name for path in outside.iterdir()) == [".ssh", "secret"]


async def test_devices_are_out_of_reach(box: Box) -> None:
    disks = [str(path) for path in Path("/dev").glob("[sv]d[a-z]")] or ["/dev/sda"]
    done = await box(
        f"""
        mknod block b 8 0 && echo made; mknod zero c 1 5 && echo made; mknod mem c 1 1 && echo made
        for device in {" ".join(disks)} /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/fuse /dev/kvm /dev/loop-control
        do {{ : < $device; }} 2>/dev/null && echo $device; {{ : >> $device; }} 2>/dev/null && echo $device; done
        mount -t tmpfs none . && echo mounted; mount --bind / . && echo mounted
        """
    )
    assert done.stdout == ""


async def test_there_is_no_network(box: Box, outside: Path) -> None:
    abstract = f"\0aster-{token()}"
    with contextlib.ExitStack() as open_sockets:
        stream = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = stream.getsockname()[1]
        datagrams = open_sockets.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", port))
        there = [stream, datagrams]
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for name in (str(outside / f"{int(kind)}.sock"), f"{abstract}-{int(kind)}"):
                service = open_sockets.enter_context(socket.socket(socket.AF_UNIX, kind))
                service.bind(name)
                there.append(service)
                if kind == socket.SOCK_STREAM:
                    service.listen()
                if not name.startswith("\0"):
                    Path(name).chmod(0o777)
        hidden = abstract.replace("\0", "\\0")
        done = await box(
            f"""
            echo hello > /dev/tcp/127.0.0.1/{port} && echo tcp; echo hello > /dev/tcp/192.0.2.1/80 && echo out
            echo hello > /dev/udp/127.0.0.1/{port}
            perl -MSocket -e 'for my $path ("{outside}/1.sock", "{hidden}-1") {{
              socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, pack_sockaddr_un($path)) and print "unix\\n"; }}
            for my $path ("{outside}/2.sock", "{hidden}-2") {{
              socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0); send(A, "hello", 0, pack_sockaddr_un($path));
              socket(S, PF_UNIX, SOCK_DGRAM, 0) and send(S, "hello", 0, pack_sockaddr_un($path)); }}
            socket(S, 40, SOCK_STREAM, 0) and print "vsock\\n"; socket(S, AF_INET, SOCK_RAW, 1) and print "raw\\n"'
            """
        )
        for service in there:
            service.setblocking(False)
            with pytest.raises(BlockingIOError):
                service.recv(64) if service.type == socket.SOCK_DGRAM else service.accept()
    assert done.stdout == ""


async def test_a_fork_bomb_is_contained(box: Box) -> None:
    await box("true")
    before = len(list(descendants(os.getpid())))
    bombing = asyncio.create_task(
        box("bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 2", limits=Limits(processes=40))
    )
    most = 0
    while not bombing.done():
        most = max(most, len(list(descendants(os.getpid()))) - before)
        await asyncio.sleep(0.02)
    await bombing
    assert 5 < most < 150
    assert len(list(descendants(os.getpid()))) == before


async def test_a_memory_bomb_is_contained(box: Box) -> None:
    limits = Limits(memory_bytes=128 << 20)
    done = await box("perl -e '$x = \"a\" x (400 << 20); print length $x'", limits=limits)
    assert (done.exit_code != 0, done.stdout) == (True, "")
    many = "for n in 1 2 3 4 5 6; do perl -e '$x = \"a\" x (60 << 20); sleep 30' & done; wait; echo done"
    done = await box(many, limits=limits)
    assert done.exceeded is not None
    assert "128 MB of memory" in done.exceeded
    assert done.stderr.endswith(f"{done.exceeded}\n")
    assert (done.exit_code, done.signal, done.timed_out, done.stdout) == (137, 9, False, "")


async def test_a_disk_filler_is_contained(box: Box) -> None:
    limits = Limits(file_bytes=4 << 20, scratch_bytes=8 << 20)
    done = await box("head -c 50M /dev/zero > one", limits=limits)
    assert done.exit_code != 0
    assert (box.root / "one").stat().st_size <= 4 << 20
    done = await box(
        "for ((n = 0; n < 400; n++)); do head -c 2M /dev/zero > many-$n; sleep 0.01; done; echo all", limits=limits
    )
    assert done.exceeded is not None
    assert "16 MB to disk" in done.exceeded
    assert sum(path.stat().st_size for path in box.root.glob("many-*")) < 300 << 20
    done = await box(
        'cd "${TMPDIR:-/tmp}"; for ((n = 0; n < 400; n++)); do head -c 2M /dev/zero > $n || exit; sleep 0.01; done',
        limits=limits,
    )
    assert done.exit_code != 0


async def test_a_daemon_ends_with_its_command(box: Box) -> None:
    name = token()
    done = await box(f"{daemon(name)}; (trap '' TERM HUP; {sleeper(name)}) & disown -a; echo started")
    assert (done.stdout, alive(name)) == ("started\n", [])


async def test_nobody_else_can_be_killed(box: Box, neighbour: subprocess.Popen[bytes]) -> None:
    engine = os.getpid()
    limits = Path(f"/proc/{neighbour.pid}/limits").read_text()
    done = await box(
        f"""
        for victim in $PPID {engine} {os.getppid()} {neighbour.pid} 1; do
          kill -9 $victim; kill -STOP $victim
        done 2>/dev/null
        kill -9 -1 2>/dev/null
        prlimit --pid {neighbour.pid} --nofile=1:1; renice 19 -p {neighbour.pid}; taskset -p 1 {neighbour.pid}
        echo survived
        """
    )
    assert done.stdout.endswith("survived\n")
    process = psutil.Process(neighbour.pid)
    assert process.status() in (psutil.STATUS_SLEEPING, psutil.STATUS_RUNNING)
    assert (Path(f"/proc/{neighbour.pid}/limits").read_text(), process.nice()) == (limits, 0)


async def test_privileges_cannot_be_had(box: Box) -> None:
    done = await box(
        """
        su -c id; sudo -n id; mount -o remount,rw /; unshare -Ur id; chroot / id
        echo x > /proc/sys/kernel/core_pattern && echo kernel; echo b > /proc/sysrq-trigger && echo kernel
        ulimit -c 1000 && echo core; ulimit -u 100000 && echo processes
        """
    )
    assert "uid=0" not in done.stdout
    assert not {"kernel", "core", "processes"} & set(done.stdout.split())


async def test_a_flood_of_output_is_shortened(box: Box) -> None:
    done = await box("yes very long output | head -c 30M")
    assert done.truncated
    assert len(done.stdout) < 50_000


async def test_traversal_strings_lead_nowhere(box: Box, outside: Path) -> None:
    """However a path is spelled, it ends in the workspace or nowhere."""
    spellings = [
        "../" * 12 + str(outside).lstrip("/"),
        "./" + "../" * 12 + f".{outside}",
        "/" + "/".join(["usr", "..", "."]) + str(outside),
        f"/proc/self/cwd/../../../..{outside}",
        f"/dev/fd/../../..{outside}",
        str(outside).replace("/", "//"),
    ]
    done = await box("\n".join(f"cat {path}/secret; echo x > {path}/secret" for path in spellings))
    assert SECRET not in done.stdout
    assert (outside / "secret").read_text() == SECRET


async def test_a_root_around_the_engines_data_does_not_lend_it(box: Box, tmp_path: Path) -> None:
    """Hidden where there are mounts, refused where there are none."""
    brain = tmp_path / "data" / "brain.sqlite"
    brain.write_text(SECRET)
    owned(box, brain)
    around = Workspace((tmp_path,), tmp_path, hidden=(tmp_path / "data",))
    command = Command.shell("cat data/brain.sqlite; echo x > data/brain.sqlite", around)
    if box.sandbox.scratch is None:
        with pytest.raises(EngineError, match="ALLOWED_ROOTS contains the engine's own data"):
            await box.sandbox.run(command)
    else:
        assert SECRET not in (await box.sandbox.run(command)).stdout
    assert brain.read_text() == SECRET
