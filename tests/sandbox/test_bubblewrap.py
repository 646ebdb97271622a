"""What a command in the sandbox can see, reach and use up."""

import asyncio
import os
import socket
import subprocess
from pathlib import Path

import pytest
import uvloop

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Completed, Sandbox
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces
from tests.sandbox.backends import Box


@pytest.fixture
def box(sandbox: Sandbox, workspace: Workspace) -> Box:
    return Box(sandbox, workspace)


async def test_streams_and_exit_status_come_back(box: Box) -> None:
    done = await box("echo out; echo err >&2; exit 3")
    assert done == Completed(exit_code=3, stdout="out\n", stderr="err\n")


async def test_only_the_workspace_is_visible(box: Box, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (box.root / "here").write_text("here")
    (box.root / "link").symlink_to(secret)
    done = await box(f"cat here; cat {secret}; cat link; cat /etc/shadow; ls /home /root /var /sys /srv")
    assert done.stdout == "here"
    assert done.stderr.count("No such file or directory") == 8


async def test_nothing_but_the_workspace_can_be_written(box: Box) -> None:
    done = await box("for place in / /usr /etc /dev /proc /bin; do touch $place/x 2>/dev/null && echo $place; done")
    assert done.stdout == ""
    assert (await box("mkdir -p a/b && echo kept > a/b/c && echo kept >> ~/d")).exit_code == 0
    assert (box.root / "a/b/c").read_text() == "kept\n"
    assert (box.root / "d").read_text() == "kept\n"


async def test_scratch_space_belongs_to_one_command(box: Box) -> None:
    assert (await box("echo x > /tmp/mine && cat /tmp/mine")).stdout == "x\n"
    assert (await box("ls /tmp/mine")).exit_code != 0


async def test_there_is_no_network(box: Box) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = await box(f"echo hello > /dev/tcp/127.0.0.1/{port}")
    assert done.exit_code != 0
    assert "lo:" in (await box("tail -n +3 /proc/net/dev")).stdout
    assert (await box("tail -n +3 /proc/net/dev | wc -l")).stdout.strip() == "1"


async def test_the_engines_environment_is_not_there(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "very-secret")
    done = await box("env; cat /proc/*/environ | tr '\\0' '\\n'")
    assert "very-secret" not in done.stdout
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}


async def test_a_command_has_no_privileges(box: Box) -> None:
    status = (await box("id -u; cat /proc/self/status")).stdout.splitlines()
    identity = box.sandbox.identity
    assert int(status[0]) == (identity.uid if identity else os.getuid()) != 0
    fields = dict(line.split(":\t") for line in status[1:] if ":\t" in line)
    assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"


@pytest.mark.parametrize(
    "script",
    [
        ": >> /proc/sys/kernel/core_pattern",
        "unshare --user true",
        "unshare --mount true",
        "unshare --net true",
        "mount -t tmpfs none /tmp",
        "mknod device c 1 3",
        "chroot / true",
        "echo > /proc/sysrq-trigger",
    ],
)
async def test_the_kernel_refuses(box: Box, script: str) -> None:
    assert (await box(script)).exit_code != 0


async def test_no_descriptor_of_the_engine_leaks_in(box: Box) -> None:
    done = await box(
        "for fd in /proc/self/fd/*; do readlink $fd; done | grep -v -e pipe: -e /dev/null -e '^/proc/.*/fd'"
    )
    assert done.stdout == ""


async def test_other_processes_are_not_visible(box: Box) -> None:
    done = await box("set -- /proc/[0-9]*; echo $#")
    assert int(done.stdout) <= 3


async def test_a_fork_bomb_is_bounded(box: Box) -> None:
    bomb = """
    ( bomb() { bomb | bomb & }; bomb ) 2>/dev/null &
    most=0
    while (( SECONDS < 5 && most < 30 )); do set -- /proc/[0-9]*; (( $# > most )) && most=$#; done
    echo $most
    """
    done = await box(bomb, limits=Limits(processes=40))
    assert 5 < int(done.stdout) < 80  # listing takes a while, and the bomb goes on meanwhile


async def test_memory_is_bounded(box: Box) -> None:
    done = await box("head -c 300M /dev/zero | tail -c 290M | wc -c", limits=Limits(memory_bytes=64 << 20))
    assert done.stdout.strip() == "0"
    assert (await box("echo fine", limits=Limits(memory_bytes=64 << 20))).stdout == "fine\n"


async def test_files_and_scratch_are_bounded(box: Box) -> None:
    done = await box("head -c 5M /dev/zero > big", limits=Limits(file_bytes=1 << 20))
    assert done.exit_code != 0
    assert (box.root / "big").stat().st_size == 1 << 20
    for place in ("/tmp/big", "/dev/shm/big"):
        assert (await box(f"head -c 5M /dev/zero > {place}", limits=Limits(scratch_bytes=1 << 20))).exit_code != 0


async def test_limits_cannot_be_raised_again(box: Box) -> None:
    done = await box("ulimit -u 5000; ulimit -n 5000; ulimit -u; ulimit -n; ulimit -c")
    assert done.stdout.split() == ["256", "1024", "0"]


async def test_the_engines_own_data_is_hidden_in_a_root_around_it(
    tmp_path: Path, settings: Settings, sandbox: Sandbox
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "brain.sqlite").write_text("private")
    (tmp_path / "project").write_text("public")
    around = settings.model_copy(update={"allowed_roots": str(tmp_path)})
    box = Box(sandbox, await Workspaces(around, sandbox).of("local", "t1"))
    done = await box("cat project; cat data/brain.sqlite; ls -A data; touch data/x")
    assert done.stdout == "public"
    assert (data / "brain.sqlite").read_text() == "private"


async def test_several_roots_are_all_there(tmp_path: Path, settings: Settings, sandbox: Sandbox) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    roots = f"{tmp_path}/one, {tmp_path}/two"
    both = await Workspaces(settings.model_copy(update={"allowed_roots": roots}), sandbox).of("local", "t1")
    await Box(sandbox, both)("echo 1 > f; echo 2 > ../two/f")
    assert [(tmp_path / name / "f").read_text() for name in ("one", "two")] == ["1\n", "2\n"]


async def test_git_trusts_a_repository_of_another_owner(box: Box) -> None:
    subprocess.run(["git", "init", "-q", str(box.root / "repository")], check=True)
    assert (await box("git -C repository status --short --branch")).exit_code == 0


async def test_a_root_that_is_gone_is_reported_and_nothing_runs(sandbox: Sandbox, tmp_path: Path) -> None:
    gone = Workspace((tmp_path / "gone",), tmp_path / "gone")
    with pytest.raises(EngineError) as raised:
        await sandbox.run(Command.shell("echo ran", gone))
    assert raised.value.code is ErrorCode.SANDBOX_UNAVAILABLE
    assert "gone" in str(raised.value.details)


async def test_commands_run_side_by_side(box: Box) -> None:
    done = await asyncio.gather(*(box(f"echo {number}") for number in range(12)))
    assert [result.stdout for result in done] == [f"{number}\n" for number in range(12)]


def test_it_works_on_uvloop(settings: Settings) -> None:
    async def hello() -> Completed:
        sandbox = await choose(settings)
        try:
            workspace = await Workspaces(settings, sandbox).of("local", "t1")
            return await sandbox.run(Command.shell("echo hello", workspace))
        finally:
            sandbox.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(hello()).stdout == "hello\n"
