"""`aster inbox`: what waits for a person, over all tasks, answered by number, by key and by id."""

import json
from collections.abc import Iterator

import pytest

from aster.infra.ids import new_id
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.terminal import Terminal


@pytest.fixture
def quiet(home: Home) -> Iterator[Home]:
    """An engine of the test's own, in which nothing waits yet."""
    with home.start("serve", env={"ENGINE_LOG_LEVEL": "ERROR"}) as engine:
        try:
            wait_until_healthy(engine, home.url)
            yield home
        finally:
            engine.terminate()
            engine.communicate(timeout=20)


def asked(home: Home, message: str) -> str:
    """A task whose turn waits for a person."""
    task = new_id("task")
    assert home.call("run", message, "--task", task).returncode == 3
    return task


def pending(home: Home, *args: str) -> list[dict[str, str]]:
    return json.loads(home.call("inbox", "--json", *args).stdout)["pending"]


def test_what_waits_is_listed_and_answered_by_id(quiet: Home) -> None:
    assert quiet.call("inbox").stdout == "Nothing waits for you.\n"
    colour, danger = asked(quiet, "ask me: Which colour?"), asked(quiet, "run rm -rf *\x1b[2J")
    listed = quiet.call("inbox").stdout
    assert f"1. {colour}, question" in listed
    assert f"2. {danger}, permission" in listed
    assert "rm -rf *␛[2J" in listed
    assert "\x1b" not in listed
    (request,) = [one["request_id"] for one in pending(quiet, "--task", danger)]
    wrong = quiet.call("inbox", "answer", request, "always", "for", "ages")
    assert (wrong.returncode, "That is no answer here" in wrong.stderr) == (1, True)
    done = quiet.call("inbox", "answer", request, "no,", "keep", "them", "--json")
    assert json.loads(done.stdout) == {"request_id": request, "status": "answered"}
    again = quiet.call("inbox", "answer", request, "yes")
    assert (again.returncode, "does not wait for an answer" in again.stderr) == (1, True)
    shown = quiet.aster("watch", danger, "--until-idle").stdout
    assert "permission_denied" in shown
    assert "keep them" in shown
    assert [one["task_id"] for one in pending(quiet)] == [colour]


def test_two_keys_answer_at_a_terminal(quiet: Home) -> None:
    first, second = asked(quiet, "run rm -rf *"), asked(quiet, "ask me: Which colour?")
    with Terminal("inbox", env=quiet.env, cwd=quiet.directory) as terminal:
        terminal.expect(f"1. {first}, permission")
        terminal.expect(f"2. {second}, question")
        terminal.expect(r"Which\?")
        terminal.press("1")
        terminal.expect(r"\[y\]es \[n\]o")
        terminal.press("n")
        terminal.expect(r"Answered \S+: no")
        terminal.expect(f"1. {second}, question")
        terminal.expect(r"Which\?")
        terminal.press("1")
        terminal.expect("answer:")
        terminal.press("teal\r")
        terminal.expect(r"Answered \S+: teal")
        terminal.expect("Nothing waits for you")
        assert terminal.wait() == 0
    assert "teal" in quiet.aster("watch", second, "--until-idle").stdout


def test_a_person_can_leave_without_an_answer(quiet: Home) -> None:
    task = asked(quiet, "run rm -rf *")
    with Terminal("inbox", env=quiet.env, cwd=quiet.directory) as terminal:
        terminal.expect(r"Which\?")
        terminal.press("7")
        terminal.expect("7")
        terminal.press("\r")
        terminal.expect("There is no 7; there are 1 to 1")
        terminal.expect(r"Which\?")
        terminal.press("q")
        assert terminal.wait() == 0
    assert [one["task_id"] for one in pending(quiet)] == [task]


def test_looking_on_says_what_comes_and_goes(quiet: Home) -> None:
    with quiet.start("inbox", "--watch", "--json") as watching:
        assert watching.stdout is not None
        task = asked(quiet, "ask me: Which colour?")
        came = json.loads(watching.stdout.readline())
        assert (came["event"], came["request"]["task_id"]) == ("waiting", task)
        request = came["request"]["request_id"]
        quiet.call("inbox", "answer", request, "red")
        assert json.loads(watching.stdout.readline()) == {"event": "gone", "request_id": request}
        watching.terminate()
        watching.communicate(timeout=20)
    assert watching.returncode == 130


def test_what_is_typed_before_the_question_is_no_answer_to_it(quiet: Home) -> None:
    task = asked(quiet, "run rm -rf *")
    with Terminal("inbox", env=quiet.env, cwd=quiet.directory) as terminal:
        terminal.expect(r"Which\?")
        terminal.press("1y")
        terminal.expect("1y")
        terminal.press("\x03")
        assert terminal.wait() == 0
    assert [one["task_id"] for one in pending(quiet)] == [task]
