"""The first ten minutes: what a start at a terminal says, lays out and opens, and that it does so once."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from tests.cli.program import Home
from tests.cli.terminal import Terminal

THINGS = r"  3  .*\n"


def start(home: Home, *args: str, env: Mapping[str, str] | None = None) -> str:
    """What a person is shown at a start, up to the last thing to try; then the engine is stopped."""
    with Terminal("serve", *args, env={**home.env, **(env or {})}, cwd=home.directory) as terminal:
        shown = terminal.expect(THINGS)
        terminal.press("\x03")
        assert terminal.wait() == 0
    return shown


def sample(home: Home) -> Path:
    return next((home.directory / "workspaces").glob("*/first-steps"))


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def with_browser(home: Home) -> dict[str, str]:
    """A screen, and a browser that writes down what it is asked to show."""
    browser = home.directory / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {home.directory}/visited\n')
    browser.chmod(0o755)
    return {"DISPLAY": ":7", "BROWSER": f"{browser} %s"}


def visited(home: Home) -> list[str]:
    file = home.directory / "visited"
    return file.read_text().splitlines() if file.exists() else []


def test_the_first_start_lays_out_sample_files_and_says_what_to_try(home: Home) -> None:
    with Terminal("serve", env=home.env, cwd=home.directory) as terminal:
        shown = terminal.expect(THINGS)
        assert f"console  {home.url}/console/settings/guide?sample" in shown
        assert "key      none needed on this machine" in shown
        assert f"aster chat --url {home.url} --task first-steps" in shown
        assert names(sample(home)) == ["expenses.csv", "notes.md", "tally.py", "test_tally.py"]
        page = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text()
        assert [line for line in shown.splitlines()[-3:] if line not in page] == []
        for said, found in (
            ("read notes.md", "The spring fair"),
            ("run python3 -m unittest", "48.0"),
        ):
            assert said in shown
            done = home.aster("run", "--task", "first-steps", said)
            assert found in done.stdout, done
        assert "run chmod -R 700 ." in shown
        asked = home.aster("run", "--task", "first-steps", "run chmod -R 700 .")
        assert asked.returncode == 3
        terminal.press("\x03")
        assert terminal.wait() == 0


def test_the_sample_does_not_come_back(home: Home) -> None:
    start(home)
    shutil.rmtree(home.directory / "workspaces")
    shown = start(home)
    assert "first-steps" not in shown
    assert "ask me" in shown
    assert not (home.directory / "workspaces").exists()


def test_where_somebody_has_worked_nothing_is_laid_out(home: Home) -> None:
    theirs = home.directory / "workspaces" / "operator" / "first-steps"
    theirs.mkdir(parents=True)
    (theirs / "notes.md").write_text("mine")
    assert "--task first-steps" not in start(home)
    assert (theirs / "notes.md").read_text() == "mine"
    assert names(theirs) == ["notes.md"]


def test_directories_of_the_operator_get_no_sample(home: Home) -> None:
    lent = home.directory / "lent"
    lent.mkdir()
    assert "--task first-steps" not in start(home, env={"ALLOWED_ROOTS": str(lent)})
    assert names(lent) == []


def test_one_workspace_for_all_tasks_gets_it_too_and_a_key_is_used(home: Home) -> None:
    shown = start(home, env={"WORKSPACE": "user", "ENGINE_API_KEY": "a-key-of-mine-1234"})
    assert "key      the one in ENGINE_API_KEY" in shown
    assert "a-key-of-mine-1234" not in shown
    (of_user,) = (home.directory / "workspaces").iterdir()
    assert (of_user / "notes.md").is_file()


def test_without_a_key_that_it_knows_nothing_is_laid_out(home: Home) -> None:
    shown = start(home, env={"ENGINE_KEY_HASH": "ab" * 32})
    assert "key      the one whose hash is in ENGINE_KEY_HASH" in shown
    assert "--task first-steps" not in shown


def test_a_browser_opens_on_the_guide_once(home: Home) -> None:
    screen = with_browser(home)
    with Terminal("serve", env={**home.env, **screen}, cwd=home.directory) as terminal:
        terminal.expect(THINGS)
        until = time.monotonic() + 20
        while not visited(home):
            assert time.monotonic() < until, "no browser was opened"
            time.sleep(0.02)
        terminal.press("\x03")
        assert terminal.wait() == 0
    assert visited(home) == [f"{home.url}/console/settings/guide?sample"]
    start(home, env=screen)
    assert len(visited(home)) == 1


def test_no_browser_where_nobody_would_see_it_or_wants_it(home: Home) -> None:
    screen = with_browser(home)
    unwanted: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
        (("--no-browser",), {}),
        ((), {"OPEN_BROWSER": "false"}),
        ((), {"CI": "true"}),
        ((), {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}),
        ((), {"DISPLAY": ""}),
    )
    for number, (args, env) in enumerate(unwanted):
        brain = {"SQLITE_DB_PATH": str(home.directory / str(number) / "brain.sqlite")}
        start(home, *args, env={**screen, **brain, **env})
    assert visited(home) == []
