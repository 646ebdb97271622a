"""The command line itself: quick, helpful, and brief about what is wrong."""

import subprocess
import sys

import pytest

from aster import __version__
from aster.cli.main import build_parser
from tests.cli.program import Home

COMMANDS = ("serve", "chat", "run", "tasks", "keys", "doctor")
HEAVY = ("msgspec", "rich", "httpx2", "pydantic", "prompt_toolkit", "fastapi", "asyncio")


def test_the_version_loads_nothing_it_does_not_need() -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "aster.cli", "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == f"aster {__version__}\n"
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "argparse" in loaded
    assert not loaded.intersection(HEAVY)


def test_help_names_every_command_and_shows_examples(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    top = home.aster()
    assert top.returncode == 0
    for command in COMMANDS:
        assert f"\n    {command}" in top.stdout
        with pytest.raises(SystemExit):
            build_parser().parse_args([command, "--help"])
        assert f"  aster {command}" in capsys.readouterr().out.split("examples:")[1]


@pytest.mark.parametrize(
    "wrong",
    [
        ["dance"],
        ["run"],
        ["run", "hi", "--timeout", "0"],
        ["run", "hi", "--yes", "--no"],
        ["tasks", "fork", "t"],
        ["tasks", "list", "--limit", "0"],
        ["keys"],
        ["serve", "--port", "many"],
    ],
)
def test_wrong_usage_ends_with_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(wrong)
    assert ended.value.code == 2
    assert "usage: aster" in capsys.readouterr().err


def test_a_failure_is_one_sentence(home: Home) -> None:
    done = home.call("tasks")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"aster: No engine answers at {home.url}")
    assert "aster serve" in done.stderr


def test_a_wrong_setting_is_named(home: Home) -> None:
    done = home.call("serve", env={"MAX_TURNS": "none"})
    assert done.returncode == 1
    assert "MAX_TURNS" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_traceback_is_for_those_who_ask(home: Home) -> None:
    done = home.aster("tasks", env={"ASTER_DEBUG": "1"})
    assert "Traceback" in done.stderr


def test_a_closed_pipe_is_no_failure(served: Home) -> None:
    served.aster("run", "[[text=400 rate=0]]", "--task", "pipe")
    with served.start("tasks", "events", "pipe", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        process.wait(20)
    assert process.returncode == 0
