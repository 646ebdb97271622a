"""`aster watch`: a task seen from outside, live, from anywhere on its thread."""

import json
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

from aster.infra.ids import new_id
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.terminal import Terminal

QUIET = {"ENGINE_LOG_LEVEL": "ERROR"}


def test_a_finished_task_is_shown_and_left(served: Home) -> None:
    task = new_id("task")
    served.call("run", "run echo seen", "--task", task)
    done = served.aster("watch", task, "--until-idle")
    assert (done.returncode, done.stderr) == (0, "")
    assert "> run echo seen\n" in done.stdout
    assert "* bash  echo seen\n  seen\n" in done.stdout
    assert done.stdout.count("The command returned:") == 1


def test_every_event_from_a_place_on_is_a_line(served: Home) -> None:
    task = new_id("task")
    served.call("run", "hello", "--task", task)
    whole = served.aster("watch", task, "--json", "--until-idle").stdout.splitlines()
    numbers = [json.loads(line)["seq"] for line in whole]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
    later = served.aster("watch", task, "--json", "--until-idle", "--from", "3").stdout.splitlines()
    assert later == whole[numbers.index(3) + 1 :]
    shown = served.aster("watch", task, "--until-idle", "--from", str(numbers[-1])).stdout
    assert shown == ""


def test_a_task_that_is_not_there_is_said_to_be_missing(served: Home) -> None:
    done = served.aster("watch", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no task 'nowhere'" in done.stderr


def test_watching_goes_on_from_turn_to_turn_and_changes_nothing(served: Home) -> None:
    task = new_id("task")
    served.call("run", "run echo first", "--task", task)
    with Terminal("watch", task, env=served.env, cwd=served.directory) as terminal:
        terminal.expect("⎿ first")
        terminal.expect("nothing runs")
        served.call("run", "run echo second", "--task", task)
        terminal.expect("> run echo second")
        terminal.expect("⎿ second")
        with served.start("run", "[[text=4 stall=inf]]", "--task", task) as running:
            terminal.expect("w000002")
            terminal.press("\x03")
            assert terminal.wait() == 130
            status = json.loads(served.call("tasks", "show", task, "--json").stdout)["status"]
            assert status == "running"
            served.call("tasks", "cancel", task)
            running.communicate(timeout=20)
    glass = "\n".join(terminal.glass)
    assert (glass.count("⎿ first"), glass.count("⎿ second")) == (1, 1)


def test_a_question_is_shown_with_how_to_answer_it(served: Home) -> None:
    task = new_id("task")
    with served.start("run", "ask me: Which colour?", "--task", task) as asking:
        asking.communicate(timeout=20)
    with Terminal("watch", task, "--until-idle", env=served.env, cwd=served.directory) as terminal:
        terminal.expect(r"\? Which colour\?")
        request = terminal.expect(r"aster inbox answer (\S+)").split()[-1]
        answered = served.call("inbox", "answer", request, "green")
        assert (answered.returncode, answered.stdout) == (0, f"Answered {request}: green\n")
        terminal.expect("answered elsewhere")
        terminal.expect("green")
        assert terminal.wait() == 0


def test_an_engine_that_is_killed_is_waited_for(home: Home) -> None:
    task = new_id("task")
    with ExitStack() as stack:
        first = stack.enter_context(ending(home.start("serve", env=QUIET)))
        wait_until_healthy(first, home.url)
        home.call("run", "hello", "--task", task)
        turn = stack.enter_context(ending(home.start("run", "[[text=40 rate=20]]", "--task", task)))
        watching = stack.enter_context(ending(home.start("watch", task, "--json", "--from", "0")))
        seen = [_line(watching)]
        while "w000005" not in str(seen[-1].get("text")):
            seen.append(_line(watching))
        first.kill()
        stack.enter_context(ending(home.start("serve", env=QUIET)))
        while seen[-1]["type"] != "thread_lifecycle" or seen[-1]["phase"] != "completed":
            seen.append(_line(watching))
        turn.communicate(timeout=40)
    numbers = [line["seq"] for line in seen]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "w000040" in str(seen)


@contextmanager
def ending(process: subprocess.Popen[str]) -> Generator[subprocess.Popen[str]]:
    """A process that is gone afterwards, whatever happens."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def _line(watching: subprocess.Popen[str]) -> dict[str, Any]:
    assert watching.stdout is not None
    return json.loads(watching.stdout.readline())
