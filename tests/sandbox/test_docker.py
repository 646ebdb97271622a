"""The command line of a container. Where no daemon runs, the client alone says whether it would accept it; whether
containers isolate is then not seen here, and the probe says that they do not work."""

import shutil
import subprocess
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox.backend import Command
from aster.sandbox.docker import arguments, missing
from aster.sandbox.identity import Identity
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import choose
from tests.sandbox.backends import reports, settings_for

LIMITS = Limits(memory_bytes=64 << 20, processes=20, file_bytes=1 << 20)


def line(workspace: Workspace, made: Path) -> list[str]:
    command = Command(("/bin/bash", "-c", "echo hi"), workspace, environment=(("NAME", "value"),))
    return list(arguments("image:tag", command, LIMITS, Identity(), made))


def test_nothing_is_left_open(tmp_path: Path) -> None:
    made = line(Workspace((tmp_path,), tmp_path, hidden=(tmp_path / "data",)), tmp_path / "made")
    said = " ".join(made)
    for expected in (
        *("--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--rm"),
        *("--user 65530:65530", "--memory 67108864", "--memory-swap 67108864", "--pids-limit 20", "--pull never"),
        *("--ulimit fsize=1048576", "--env NAME=value", f"--workdir {tmp_path}"),
        *(f"type=bind,src={tmp_path},dst={tmp_path}", f"type=tmpfs,dst={tmp_path}/data"),
    ):
        assert expected in said
    assert made[-3:] == ["/bin/bash", "-c", "echo hi"]
    assert made.index("image:tag") == made.index("--entrypoint") + 2
    assert not {"--privileged", "--volume", "-v", "--pid", "--device"} & set(made)


def test_a_root_with_a_comma_is_one_field(tmp_path: Path) -> None:
    root = tmp_path / "a,dst=b"
    assert f'type=bind,"src={root}","dst={root}"' in line(Workspace((root,), root), tmp_path / "made")


def test_the_client_accepts_every_option(tmp_path: Path) -> None:
    """It reads the whole line before it looks for a daemon; an address where nothing listens keeps it from one."""
    docker = shutil.which("docker")
    if docker is None:
        assert missing() == "the docker command is not installed"
        return
    environment = {"DOCKER_HOST": f"unix://{tmp_path}/nothing.sock", "HOME": str(tmp_path)}
    for workspace in (Workspace((tmp_path,), tmp_path), Workspace((tmp_path / "a,b",), tmp_path / "a,b")):
        command = [docker, *line(workspace, tmp_path / "made")[1:]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
        assert "annot connect to the Docker daemon" in done.stderr
        wrong = subprocess.run(
            [*command[:2], "--no-such-option", *command[2:]], env=environment, capture_output=True
        )
        assert b"unknown flag" in wrong.stderr


async def test_where_it_does_not_work_it_is_refused_with_the_reason(tmp_path: Path) -> None:
    report = reports()["docker"]
    assert report.ok or "Docker daemon" in report.how_to_fix
    if not report.ok:
        sandbox = await choose(settings_for(tmp_path, SANDBOX="docker"))
        with pytest.raises(EngineError) as raised:
            await sandbox.run(Command.shell("echo ran", Workspace((tmp_path,), tmp_path)))
        assert raised.value.code is ErrorCode.SANDBOX_UNAVAILABLE
        assert str(raised.value.details).count("ocker")
        sandbox.close()
