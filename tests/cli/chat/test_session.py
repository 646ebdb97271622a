"""`aster chat`, as a person at a terminal sees it, and as a script at a pipe does."""

import json
import re
import signal

from aster.infra.ids import new_id
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.terminal import Terminal

PROMPT = "· /help"
"""The line under an editor that waits for a message."""


def chat(home: Home, *args: str) -> Terminal:
    return Terminal("chat", *args, env=home.env, cwd=home.directory)


def test_a_conversation_with_a_tool_and_an_approval(home: Home) -> None:
    """On an empty machine: the engine is started for the session, and stopped with it."""
    with chat(home) as terminal:
        terminal.expect("starting one for this session")
        terminal.expect("no model is configured")
        task = terminal.expect(r"Task (task-\w+)").split()[-1]
        terminal.expect(PROMPT)
        terminal.press("run echo good morning\r")
        terminal.expect("● bash  echo good morning")
        terminal.expect("⎿ good morning")
        terminal.expect("The command returned")
        terminal.expect(PROMPT)
        terminal.press("run rm -rf *\r")
        terminal.expect(r"\? May `bash` run\?")
        terminal.expect("rm -rf")
        terminal.expect("say what to do instead")
        terminal.press("i")
        terminal.expect(r"\[a\]lways")
        terminal.press("n keep my files\r")
        terminal.expect("⎿ permission_denied")
        terminal.expect("keep my files")
        terminal.expect(PROMPT)
        terminal.press("run rm -rf *\r")
        terminal.expect("say what to do instead")
        terminal.press("y")
        terminal.expect("● bash  rm -rf")
        terminal.expect(PROMPT)
        terminal.press("/expand\r")
        terminal.expect(r"bash \(done, \d+ ms\)")
        terminal.expect(PROMPT)
        terminal.press("/quit\r")
        assert terminal.wait() == 0
    assert "Traceback" not in terminal.text
    assert home.call("tasks").returncode == 1
    assert re.fullmatch(r"task-\w+", task)
    assert (home.directory / "chat-history").stat().st_mode & 0o077 == 0


def test_ctrl_c_cancels_the_turn_and_a_second_leaves(served: Home) -> None:
    task = new_id("task")
    with chat(served, "--task", task) as terminal:
        terminal.expect(PROMPT)
        terminal.press("[[text=4 stall=inf]]\r")
        terminal.expect("w000001 w000002")
        terminal.press("\x03")
        terminal.expect("cancelled")
        terminal.expect(PROMPT)
        terminal.press("ask me\r")
        terminal.expect("answer:")
        terminal.press("\x03")
        terminal.expect("cancelled")
        terminal.expect(PROMPT)
        terminal.press("\x03")
        terminal.expect("Ctrl-C again leaves")
        terminal.expect(PROMPT)
        terminal.press("\x03")
        assert terminal.wait() == 130
    turns = json.loads(served.call("tasks", "show", task, "--json").stdout)["turns"]
    assert [turn["status"] for turn in turns] == ["cancelled", "cancelled"]


def test_two_ctrl_c_leave_when_the_engine_does_not_answer(home: Home) -> None:
    task = new_id("task")
    with home.start("serve", env={"ENGINE_LOG_LEVEL": "ERROR"}) as engine:
        try:
            wait_until_healthy(engine, home.url)
            with chat(home, "--task", task) as terminal:
                terminal.expect(PROMPT)
                terminal.press("[[text=4 stall=inf]]\r")
                terminal.expect("w000001")
                engine.send_signal(signal.SIGSTOP)
                terminal.press("\x03")
                terminal.expect("cancelling")
                terminal.press("\x03")
                terminal.expect(f"aster chat --resume {task}")
                assert terminal.wait() == 130
        finally:
            engine.send_signal(signal.SIGCONT)
            engine.terminate()
            engine.communicate(timeout=20)


def test_a_killed_engine_is_waited_for(home: Home) -> None:
    with home.start("serve", env={"ENGINE_LOG_LEVEL": "ERROR"}) as first:
        wait_until_healthy(first, home.url)
        with chat(home) as terminal:
            terminal.expect(PROMPT)
            terminal.press("[[text=30 rate=25]]\r")
            terminal.expect("w000005")
            first.kill()
            terminal.expect("the engine is away")
            with home.start("serve", env={"ENGINE_LOG_LEVEL": "ERROR"}) as second:
                try:
                    terminal.expect("w000029 w000030")
                    terminal.expect(PROMPT)
                    terminal.press("/quit\r")
                    assert terminal.wait() == 0
                finally:
                    second.terminate()
                    second.communicate(timeout=20)


def test_a_question_answered_elsewhere_is_no_longer_asked(served: Home) -> None:
    task = new_id("task")
    with chat(served, "--task", task) as terminal:
        terminal.expect(PROMPT)
        terminal.press("ask me: Which colour?\r")
        terminal.expect("answer:")
        served.aster("chat", "--task", task, said="green\n")
        terminal.expect("answered elsewhere")
        terminal.expect("You answered:")
        terminal.expect("green")
        terminal.expect(PROMPT)
        terminal.press("\x04")
        assert terminal.wait() == 0


def test_an_earlier_task_is_shown_and_goes_on(served: Home) -> None:
    task = new_id("task")
    served.call("run", "run echo one", "--task", task)
    with chat(served, "--task", task) as terminal:
        terminal.expect("> run echo one")
        terminal.expect("● bash  echo one")
        terminal.expect("The command returned:")
        terminal.expect(PROMPT)
        terminal.press("/fork\r")
        forked = terminal.expect(r"Forked task-\w+ at \d+. Task task-\w+").split()[-1]
        terminal.expect(PROMPT)
        terminal.press("/new\r")
        terminal.expect(r"New task task-\w+")
        terminal.press(f"/resume {forked}\r")
        terminal.expect(f"Task {forked}")
        terminal.press("/resume nothing\r")
        terminal.expect("There is no task 'nothing'")
        terminal.press("/dance\r")
        terminal.expect("There is no /dance")
        terminal.expect(PROMPT)
        terminal.press("\x04")
        assert terminal.wait() == 0


def test_lines_in_a_pipe_are_messages_and_answers(served: Home) -> None:
    said = "ask me: Which colour?\nblue\nrun rm -rf *\n\nno thanks\n/help\n/plan\n/doubts\n/compact\n/tasks\n"
    done = served.aster("chat", said=said)
    assert (done.returncode, done.stderr) == (0, "")
    assert "? Which colour?" in done.stdout
    assert "blue" in done.stdout
    assert "permission_denied" in done.stdout
    assert "/resume [ID]" in done.stdout
    assert "This task has no plan." in done.stdout
    assert "Nothing is uncertain in this task." in done.stdout
    assert "Nothing was changed: " in done.stdout
    assert "\x1b" not in done.stdout


def test_who_answers_can_be_chosen(served: Home) -> None:
    task = new_id("task")
    said = "/agents\n/agent nobody\n/agent coder\n/agents\nhello\n/agent main\nhello again\n"
    done = served.aster("chat", "--task", task, "--agent", "writer", said=f"hello first\n{said}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  researcher  " in done.stdout
    assert "There is no agent nobody; there are analyst, coder" in done.stdout
    assert "The next message is answered by coder." in done.stdout
    assert "* coder" in done.stdout
    turns = json.loads(served.call("tasks", "show", task, "--json").stdout)["turns"]
    assert [turn.get("agent", "main") for turn in turns] == ["writer", "coder", "main"]


def test_an_input_that_ends_leaves_the_question_open(served: Home) -> None:
    task = new_id("task")
    done = served.aster("chat", "--task", task, said="ask me\n")
    assert done.returncode == 3
    assert f"aster chat --resume {task}" in done.stdout
    pending = json.loads(served.call("tasks", "show", task, "--json").stdout)["pending"]
    assert len(pending) == 1


def test_a_polite_kill_stops_the_engine_of_the_session(home: Home) -> None:
    with home.start("chat") as process:
        assert process.stdout is not None
        while "Task" not in process.stdout.readline():
            pass
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert home.call("tasks").returncode == 1


def test_a_history_that_others_could_read_is_closed_to_them(home: Home) -> None:
    history = home.directory / "chat-history"
    history.touch(mode=0o644)
    with chat(home) as terminal:
        terminal.expect(PROMPT)
        terminal.press("\x04")
        assert terminal.wait() == 0
    assert history.stat().st_mode & 0o077 == 0
