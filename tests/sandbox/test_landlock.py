"""The launcher without namespaces: what works inside it, and what it says when it cannot do its work. What cannot
be done inside is in `test_escapes`; where the kernel has no Landlock, only the refusal is to be seen."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox import landlock, launcher
from aster.sandbox.backend import Command
from aster.sandbox.identity import tool_identity
from aster.sandbox.landlock import Landlock
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from tests.sandbox.backends import Box, boxed, reports, working

HERE = [name for name in working() if name == "landlock"]


@pytest.fixture(params=HERE)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Box]:
    async with boxed(request.param, tmp_path) as box:
        yield box


def test_it_works_or_says_what_is_missing() -> None:
    report = reports()["landlock"]
    assert report.ok is (landlock.missing() is None)
    assert report.ok or "Landlock" in report.reason
    assert (launcher.landlock_abi() >= launcher.LEAST_ABI) or not report.ok


async def test_modes_and_times_change_where_the_command_may_write(box: Box) -> None:
    done = await box(
        """
        echo 'echo ran' > script; chmod 755 script; ./script; mkdir -p d/e; chmod -R u+rwX,go= d
        cd d; touch -d '2001-02-03 04:05:06' e; ln -s e link; touch -h -d 2002-01-01 link; cd ..
        cp -p script copy; chmod 600 "$PWD/d/../copy"; stat -c '%a %Y' copy script d d/e
        exec 5< copy; chmod 640 /proc/self/fd/5; stat -c %a copy >&2
        chmod 600 nothing; tar c script | tar x -C d && stat -c %a d/script
        """
    )
    lines = done.stdout.splitlines()
    modes = [line.split()[0] for line in lines[1:5]]
    assert (lines[0], modes, lines[5]) == ("ran", ["600", "755", "700", "700"], "755")
    assert lines[1].split()[1] == lines[2].split()[1]
    assert lines[4].split()[1] == "981173106"
    assert "nothing" in done.stderr
    assert done.stderr.startswith("640\n")


async def test_daily_work_is_done_in_it(box: Box) -> None:
    done = await box(
        """
        git init -q repository && cd repository && git config user.name a && git config user.email a@b
        echo x > f && git add f && git commit -qm first && git status --short --branch && git log --oneline | wc -l
        cat <(echo piped) ; sort <<< "heredoc"; mkfifo p; (echo fifo > p &) ; cat p; head -c 3 /dev/urandom | wc -c
        perl -e 'socketpair(A, B, 1, 1, 0) or die; syswrite A, "pair\\n"; sysread B, $x, 9; print $x'
        timeout 0.1 sleep 5; echo $?; grep -c MemTotal /proc/meminfo
        """
    )
    words = done.stdout.split("\n")
    assert words[0].startswith("## ")
    assert words[1:] == ["1", "piped", "heredoc", "fifo", "3", "pair", "124", "1", ""]


async def test_each_command_has_a_scratch_directory_of_its_own(box: Box) -> None:
    done = await box('echo x > "$TMPDIR/f"; mktemp; ls -A "$TMPDIR" | wc -l; echo $TMPDIR')
    place = Path(done.stdout.split()[-1])
    assert done.stdout.split()[1] == "2"
    assert not place.exists()
    assert list(place.parent.iterdir()) == []


async def test_what_a_dead_engine_left_is_cleared_away(box: Box, tmp_path: Path) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    scratch = tmp_path / "scratch"
    for name in (f"{gone.pid}-dead", f"{os.getpid()}-alive"):
        (scratch / name / "deep").mkdir(parents=True)
    Landlock(Limits(), box.sandbox.identity, scratch).close()
    assert [place.name for place in scratch.iterdir()] == [f"{os.getpid()}-alive"]


async def test_the_launcher_that_waits_may_die_and_goes_with_the_sandbox(box: Box) -> None:
    def waiting() -> list[psutil.Process]:
        return [one for one in psutil.Process().children() if "launcher" in " ".join(one.cmdline())]

    assert (await box("echo one")).stdout == "one\n"
    (spare,) = waiting()
    spare.kill()
    await asyncio.to_thread(os.waitid, os.P_PID, spare.pid, os.WEXITED | os.WNOWAIT)
    assert (await box("echo two")).stdout == "two\n"
    assert len(waiting()) == 1
    box.sandbox.close()
    assert waiting() == []


async def test_a_long_order_arrives_whole(box: Box) -> None:
    long = "x" * 100_000
    assert (await box(f"echo {long} | wc -c; echo é{chr(0xDC80)}")).stdout.startswith("100001\né")


@pytest.mark.parametrize("backend", [name for name in working() if name == "sandlock"])
async def test_the_same_launcher_around_sandlock_has_no_way_to_the_network(backend: str, tmp_path: Path) -> None:
    async with boxed(backend, tmp_path) as box:
        command = Command(("/bin/true",), box.workspace, egress=lambda listener: listener.close())
        with pytest.raises(EngineError) as raised:
            await box.sandbox.run(command)
    assert raised.value.code is ErrorCode.SANDBOX_UNAVAILABLE


async def test_a_way_out_that_nobody_minds_leads_nowhere(box: Box) -> None:
    script = "curl -sS -m 3 -x http://127.0.0.1:3128 http://example.com/ && echo reached"
    command = Command(("/bin/bash", "-c", script), box.workspace, egress=lambda lines: lines.close())
    done = await box.sandbox.run(command)
    assert done.exit_code != 0
    assert "reached" not in done.stdout


async def test_a_root_that_is_gone_is_reported_and_nothing_runs(box: Box, tmp_path: Path) -> None:
    gone = Workspace((tmp_path / "gone",), tmp_path / "gone")
    with pytest.raises(EngineError) as raised:
        await box.sandbox.run(Command.shell("echo ran", gone))
    assert raised.value.code is ErrorCode.SANDBOX_UNAVAILABLE
    assert "gone" in str(raised.value.details)


def test_the_launcher_refuses_to_run_anything_it_cannot_confine(tmp_path: Path) -> None:
    """Told too little, as root without an identity to take on or as a child of somebody else, it runs nothing."""
    program = [sys.executable, "-I", "-S", launcher.__file__]
    identity = tool_identity()
    who = [f"uid={identity.uid}", f"gid={identity.gid}"] if identity else []
    for order in (["parent=1"], ["parent=1", *who], [f"parent={os.getpid()}", *who, "system=/nowhere"]):
        done = subprocess.run([*program, *order, "--", "/bin/echo", "ran"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (125, "")
        assert done.stderr
