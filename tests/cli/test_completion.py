"""Completion scripts: what bash completes, and that every shell's script knows the whole command line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aster.cli.command_tree import commands
from aster.cli.completion import bash, fish, zsh
from aster.cli.parser import build_parser
from aster.infra.ids import new_id
from tests.cli.program import Home

_TRY = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aster
if [ "${#COMPREPLY[@]}" -gt 0 ]; then printf '%s\\n' "${COMPREPLY[@]}"; fi
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "aster.bash"
    file.write_text(bash(tuple(commands(build_parser()))))
    return file


def offered(script: Path, *words: str, path: str = os.environ["PATH"], cwd: Path | None = None) -> list[str]:
    """What bash offers for the last of these words."""
    shell = shutil.which("bash")
    assert shell is not None
    argv = [shell, "--norc", "-u", "-c", _TRY, "bash", str(script), *words]
    env = {"PATH": path}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, cwd=cwd, timeout=20, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["aster", "wat"], ["watch"]),
        (["aster", "tasks", "ev"], ["events"]),
        (["aster", "tasks", "--url", "list", "ev"], ["events"]),
        (["aster", "chat", "--mo"], ["--mode"]),
        (["aster", "chat", "--mode", ""], ["default", "plan", "auto", "bypass"]),
        (["aster", "chat", "--theme", "m"], ["mono"]),
        (["aster", "completion", ""], ["bash", "zsh", "fish"]),
        (["aster", "memory", "so"], ["soul", "social"]),
        (["aster", "memory", "list", "--store", "kn"], ["knowledge"]),
        (["aster", "nonsense", "x"], []),
    ],
)
def test_bash_completes(script: Path, words: list[str], found: list[str]) -> None:
    assert offered(script, *words) == found


def test_bash_completes_files(script: Path, tmp_path: Path) -> None:
    (tmp_path / "brain.backup").touch()
    assert offered(script, "aster", "restore", "bra", cwd=tmp_path) == ["brain.backup"]
    assert offered(script, "aster", "serve", "--db", "bra", cwd=tmp_path) == ["brain.backup"]


def test_bash_completes_tasks_and_runs_nothing_that_one_is_called(
    script: Path, served: Home, tmp_path: Path
) -> None:
    task, evil = new_id("task"), "$(touch owned)`touch owned`"
    served.call("run", "hello", "--task", task)
    served.call("run", "hello", "--task", evil)
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_in = programs / "aster"
    listed = tmp_path / "listed"
    listed.write_text(served.call("tasks").stdout)
    stand_in.write_text(f"#!/bin/sh\ncat {listed}\n")
    stand_in.chmod(0o755)
    found = offered(script, "aster", "watch", "", path=f"{programs}:{os.environ['PATH']}", cwd=tmp_path)
    assert task in found
    assert evil in listed.read_text()
    assert not any("owned" in one for one in found)
    assert not (tmp_path / "owned").exists()


def test_every_script_knows_every_command_and_option() -> None:
    found = tuple(commands(build_parser()))
    assert {("watch",), ("inbox", "answer"), ("memory", "correct"), ("completion",)} <= {one.path for one in found}
    scripts = (bash(found), zsh(found), fish(found))
    for one in found:
        for option in one.options:
            for flag in (flag for flag in option.flags if flag.startswith("--")):
                assert all(flag[2:] in script for script in scripts), flag
        for name, _ in one.actions:
            assert all(name in script for script in scripts), name


def test_a_shell_that_is_there_reads_its_script(home: Home, tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        done = home.call("completion", shell)
        assert done.returncode == 0
        program = shutil.which(shell)
        if program is not None:
            file = tmp_path / shell
            file.write_text(done.stdout)
            read = subprocess.run([program, "-n", str(file)], capture_output=True, text=True, check=False)
            assert (read.returncode, read.stderr) == (0, "")
