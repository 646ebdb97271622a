"""`aster run`: the answer on standard output, the outcome in the exit code."""

import json
import signal

import pytest

from aster.infra.ids import new_id
from tests.cli.program import Home
from tests.cli.terminal import Terminal

NUMBERED = [f"w{number:06}" for number in range(1, 13)]
DANGER = '[[tools=1 tool=bash input={"command":"rm -rf *"} text=3]]'


@pytest.fixture
def task() -> str:
    return new_id("task")


def test_the_answer_is_all_that_is_printed(served: Home, task: str) -> None:
    done = served.aster("run", "[[text=12]]", "--task", task)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == NUMBERED


def test_only_what_follows_the_tools_is_the_answer(served: Home, task: str) -> None:
    done = served.aster("run", "run echo hello", "--task", task)
    assert done.returncode == 0
    assert done.stdout.startswith("The command returned:")
    assert "hello" in done.stdout


def test_json_prints_every_event(served: Home, task: str) -> None:
    done = served.aster("run", "[[text=12]]", "--task", task, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["phase"]) == ("thread_lifecycle", "completed")
    assert "".join(event["text"] for event in events if event["type"] == "text_delta").split() == NUMBERED


def test_the_message_can_come_from_standard_input(served: Home, task: str) -> None:
    assert served.call("run", "-", "--task", task, said="[[text=12]]\n").stdout.split() == NUMBERED
    assert served.call("run", "-", said=" \n").returncode == 2


def test_a_task_goes_on(served: Home, task: str) -> None:
    for _ in range(2):
        assert served.call("run", "[[text=1]]", "--task", task).returncode == 0
    shown = json.loads(served.call("tasks", "show", task, "--json").stdout)
    assert len(shown["turns"]) == 2


def test_a_failed_turn_ends_with_1_and_the_reason(served: Home, task: str) -> None:
    done = served.call("run", "[[fail=400]]", "--task", task)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("aster run: ")
    assert "Traceback" not in done.stderr


def test_a_question_ends_with_3_and_says_how_to_answer(served: Home, task: str) -> None:
    done = served.aster("run", "ask me: Which colour?", "--task", task)
    assert done.returncode == 3
    assert "Which colour?" in done.stderr
    assert f"aster chat --resume {task}" in done.stderr
    again = served.aster("run", "hello", "--task", task)
    assert again.returncode == 3
    assert f"aster chat --resume {task}" in again.stderr
    answered = served.aster("chat", "--task", task, said="blue\n")
    assert answered.returncode == 0
    assert "You answered:" in answered.stdout
    assert "blue" in answered.stdout


@pytest.mark.parametrize(("consent", "error"), [("--yes", None), ("--no", "permission_denied")])
def test_consent_can_be_given_beforehand(served: Home, task: str, consent: str, error: str | None) -> None:
    done = served.call("run", DANGER, "--task", task, consent, "--json")
    assert done.returncode == 0, done.stderr
    results = [event for line in done.stdout.splitlines() if (event := json.loads(line))["type"] == "tool_result"]
    assert [result.get("error") for result in results] == [error]


def test_consent_does_not_answer_questions(served: Home, task: str) -> None:
    assert served.call("run", "ask me", "--task", task, "--yes").returncode == 3


def test_without_consent_permission_needs_a_person(served: Home, task: str) -> None:
    done = served.call("run", DANGER, "--task", task)
    assert done.returncode == 3
    assert "rm -rf *" in done.stderr


def test_a_turn_that_takes_too_long_is_cancelled(served: Home, task: str) -> None:
    done = served.call("run", "[[text=4 stall=inf]]", "--task", task, "--timeout", "0.5")
    assert done.returncode == 1
    assert "0.5 s" in done.stderr
    shown = json.loads(served.call("tasks", "show", task, "--json").stdout)
    assert [turn["status"] for turn in shown["turns"]] == ["cancelled"]


def test_ctrl_c_cancels(served: Home, task: str) -> None:
    with served.start("run", "[[text=4 stall=inf]]", "--task", task, "--json") as process:
        assert process.stdout is not None
        while '"text_delta"' not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["phase"] == "cancelled"
    assert task in err


def test_an_engine_is_started_when_none_runs(home: Home) -> None:
    done = home.aster("run", "[[text=12]]")
    assert (done.returncode, done.stdout.split()) == (0, NUMBERED)
    assert "starting one for this session" in done.stderr
    assert home.aster("tasks").returncode == 1


def test_an_engine_that_was_named_is_not_started(home: Home) -> None:
    done = home.aster("run", "hello", "--url", home.url)
    assert done.returncode == 1
    assert "aster serve" in done.stderr
    assert home.aster("run", "hello", env={"ENGINE_URL": home.url}).returncode == 1


def test_an_engine_that_cannot_start_says_why(home: Home) -> None:
    done = home.aster("run", "hello", env={"LLM_PROVIDER": "openai"})
    assert done.returncode == 1
    assert "LLM_API_KEY" in done.stderr


def test_a_person_at_a_terminal_sees_the_turn(served: Home, task: str) -> None:
    with Terminal("run", "run echo hello", "--task", task, env=served.env, cwd=served.directory) as terminal:
        terminal.expect("● bash  echo hello")
        terminal.expect("The command returned:")
        terminal.expect(f"Task {task}")
        assert terminal.wait() == 0


REFUSED = '[[tools=3 tool=bash input={"command":"rm -rf /x$round"} text=12]]'


def test_many_refusals_are_followed_by_a_suggestion(served: Home, task: str) -> None:
    done = served.call("run", REFUSED, "--task", task, "--no")
    assert done.returncode == 0
    assert "aster run: 3 calls in a row were refused. In plan mode" in done.stderr
    assert "refused" not in done.stdout
    chat = served.aster("chat", "--task", new_id("task"), said=f"{REFUSED}\nn\nn\nn\n")
    assert "3 calls in a row were refused. In plan mode" in chat.stdout + chat.stderr
