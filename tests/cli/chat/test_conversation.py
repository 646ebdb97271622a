"""A whole conversation at a terminal, read off the glass: what a person would see, and nothing twice."""

import json
import re
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager

from aster.cli.chat.choosing import WORD_SECONDS
from aster.infra.ids import new_id
from tests.cli.chat.test_session import PROMPT, chat
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.terminal import Terminal
from tests.cli.test_watch import ending

ENTER, TAB, CTRL_C, CTRL_D, CTRL_J, CTRL_O, CTRL_R = "\r", "\t", "\x03", "\x04", "\n", "\x0f", "\x12"
QUIET = {"ENGINE_LOG_LEVEL": "ERROR"}
SLOW = 60.0
"""Seconds that an engine may take to start again on a busy machine."""


def bash(command: str, words: int = 2) -> str:
    """A message that has the model run a command, then say so many words."""
    return f"[[text={words} tools=1 tool=bash input={json.dumps({'command': command})}]]"


@contextmanager
def serving(home: Home) -> Generator[subprocess.Popen[str]]:
    """An engine that answers: a chat that finds none would be one itself."""
    with ending(home.start("serve", env=QUIET)) as engine:
        wait_until_healthy(engine, home.url)
        yield engine


def said(terminal: Terminal, line: str) -> None:
    terminal.press(line + ENTER)


def turns(home: Home, task: str) -> list[dict[str, object]]:
    return json.loads(home.call("tasks", "show", task, "--json").stdout)["turns"]


def messages(home: Home, task: str) -> list[str]:
    """What was said in a task, as the thread has it."""
    lines = home.call("tasks", "events", task, "--types", "user_message", "--json").stdout.splitlines()
    return [block["text"] for line in lines for block in json.loads(line)["content"]]


def test_a_conversation_through_a_killed_engine_and_a_new_size(home: Home) -> None:
    """Several lines, completion, an approval by one key, a resize, kill -9, Ctrl-C, and coming back."""
    task = new_id("task")
    with serving(home) as first, chat(home, "--task", task) as terminal:
        terminal.expect(PROMPT)
        terminal.press(f"one{CTRL_J}two\\{ENTER}three{ENTER}")
        terminal.expect("I heard")
        terminal.expect(PROMPT)
        terminal.press("/cos")
        terminal.expect("tokens and money of this task")
        terminal.press(TAB + ENTER)
        terminal.expect("1 turns, 1 model calls")
        terminal.expect(PROMPT)
        said(terminal, "run rm -rf *")
        terminal.expect(r"\[y\]es \[n\]o")
        terminal.press("y")
        terminal.expect("● bash  rm -rf")
        terminal.expect(PROMPT)
        said(terminal, "[[text=200 rate=20]]")
        terminal.expect("w000005")
        terminal.resize(30, 72)
        terminal.expect("w000010")
        first.kill()
        terminal.expect("the engine is away", SLOW)
        with home.start("serve", env=QUIET) as second:
            try:
                terminal.expect("w000200", SLOW)
                terminal.expect(PROMPT)
                said(terminal, "[[text=4 stall=inf]]")
                terminal.expect("w000002")
                terminal.press(CTRL_C)
                terminal.expect("cancelled")
                terminal.expect(PROMPT)
                terminal.press(CTRL_D)
                assert terminal.wait() == 0
                _look_back(terminal.glass)
                _come_back(home, task)
            finally:
                second.terminate()
                second.communicate(timeout=20)


def _look_back(glass: list[str]) -> None:
    flat = " ".join(line.strip() for line in glass)
    at = next(number for number, line in enumerate(glass) if line.startswith("> one"))
    assert [line.strip() for line in glass[at + 1 : at + 3]] == ["two", "three"]
    tail = flat[flat.index("[[text=200") : flat.index("[[text=4")]
    counted = re.findall(r"w000\d\d\d", tail[tail.rindex("w000001") :])
    assert counted == [f"w{number:06}" for number in range(1, 201)]
    assert "Traceback" not in flat


def _come_back(home: Home, task: str) -> None:
    with chat(home, "--resume") as again:
        again.expect(f"Task {task}")
        again.expect(PROMPT)
        said(again, "/todo")
        again.expect("no list of things to do")
        said(again, "/exit")
        assert again.wait() == 0
    assert "● bash  rm -rf" in "\n".join(again.glass)
    assert [turn["status"] for turn in turns(home, task)] == ["completed", "completed", "completed", "cancelled"]


def test_a_running_turn_is_steered_and_messages_are_queued(served: Home) -> None:
    task = new_id("task")
    with chat(served, "--task", task) as terminal:
        terminal.expect(PROMPT)
        said(terminal, bash("for i in 1 2 3 4 5 6 7 8; do echo line$i; sleep 0.7; done"))
        terminal.expect("line2")
        terminal.press("use blue")
        terminal.expect("› use blue")
        terminal.press(ENTER)
        terminal.press("then green")
        terminal.expect("› then green")
        terminal.press(TAB)
        terminal.press("/cost")
        terminal.press(ENTER)
        terminal.expect("Commands wait until the turn is over")
        terminal.expect("> use blue")
        terminal.expect("> then green")
        terminal.expect("I heard")
        terminal.expect("> /cost")
        terminal.press(ENTER)
        terminal.expect("2 turns")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    assert messages(served, task)[1:] == ["use blue", "then green"]
    glass = [line.strip() for line in terminal.glass]
    assert (glass.count("> use blue"), glass.count("> then green")) == (1, 1)


def test_output_is_folded_until_it_is_asked_for(served: Home) -> None:
    with chat(served) as terminal:
        terminal.expect(PROMPT)
        said(terminal, bash("seq 101 120"))
        terminal.expect(r"⎿ 101 \(\+19 lines\)")
        terminal.expect(PROMPT)
        assert "115" not in terminal.text
        terminal.press(CTRL_O)
        terminal.expect("115")
        terminal.expect(PROMPT)
        said(terminal, bash("for i in 1 2 3 4; do echo out$i; sleep 0.2; done; seq 201 220"))
        terminal.expect("out2")
        terminal.press(CTRL_O)
        terminal.expect("Ctrl-O folds")
        terminal.expect("215")
        terminal.expect(PROMPT)
        said(terminal, "think")
        terminal.expect("This is a thinking block")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0


def test_a_file_edit_is_shown_as_a_diff_before_and_after(served: Home) -> None:
    edit = {"path": "colours.txt", "old_text": "red\ngreen", "new_text": "red\nblue"}
    with chat(served, "--mode", "auto") as terminal:
        terminal.expect(PROMPT)
        said(terminal, "write colours.txt: red\\\rgreen")
        terminal.expect(r"\[y\]es")
        terminal.press("y")
        terminal.expect("● write_file")
        terminal.expect(PROMPT)
        said(terminal, f"[[text=1 tools=1 tool=edit_file input={json.dumps(edit)}]]")
        terminal.expect("- green")
        terminal.expect(r"\+ blue")
        terminal.expect(r"\[y\]es")
        terminal.press("y")
        terminal.expect("● edit_file  colours.txt")
        terminal.expect("- green")
        terminal.expect(r"\+ blue")
        terminal.expect("Replaced it once")
        terminal.expect(PROMPT)
        said(terminal, "/undo")
        terminal.expect("restored .*colours.txt")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    assert re.search(r"\x1b\[[0-9;]*31m- green", terminal.raw)
    assert re.search(r"\x1b\[[0-9;]*32m\+ blue", terminal.raw)


def test_an_always_reaches_as_far_as_its_key(served: Home) -> None:
    task = new_id("task")
    with chat(served, "--task", task, "--mode", "auto") as terminal:
        terminal.expect(PROMPT)
        said(terminal, "write always.txt: one")
        terminal.expect(r"in this \[t\]ask")
        terminal.expect("instead:")
        terminal.press("t")
        terminal.expect("t")
        terminal.press(ENTER)
        terminal.expect("Wrote 3 bytes")
        terminal.expect(PROMPT)
        said(terminal, "write always.txt: four")
        terminal.expect("Wrote 4 bytes")
        terminal.expect(PROMPT)
        said(terminal, "/permissions")
        grant = terminal.expect(r"(grant-\w+)  allow  write_file: .*\(task\)").split("grant-")[-1].split()[0]
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    assert served.call("permissions", "revoke", f"grant-{grant}").returncode == 0


def test_earlier_messages_are_found_edited_and_run_again(home: Home) -> None:
    task = new_id("task")
    with home.start("serve", env=QUIET) as engine:
        try:
            wait_until_healthy(engine, home.url)
            with chat(home, "--task", task) as terminal:
                terminal.expect(PROMPT)
                said(terminal, "run echo walrus")
                terminal.expect("⎿ walrus")
                terminal.expect(PROMPT)
                said(terminal, "/retry")
                terminal.expect("⎿ walrus")
                terminal.expect(PROMPT)
                said(terminal, "/edit")
                terminal.expect("takes the place of your last message")
                terminal.expect("> run echo walrus")
                terminal.press("es" + ENTER)
                terminal.expect("⎿ walruses")
                terminal.expect(PROMPT)
                said(terminal, "/exit")
                assert terminal.wait() == 0
            with chat(home) as later:
                later.expect(PROMPT)
                later.press(f"{CTRL_R}ech")
                later.expect("run echo walrus")
                later.press(ENTER)
                later.press(ENTER)
                later.expect("⎿ walrus")
                later.expect(PROMPT)
                later.press(CTRL_D)
                assert later.wait() == 0
        finally:
            engine.terminate()
            engine.communicate(timeout=20)


def test_hostile_text_moves_nothing_on_the_screen(served: Home) -> None:
    """A tool's output, an agent's words and a task's title, each with sequences that a terminal would obey."""
    evil = "\\033]0;owned\\007\\033[2J\\033[31mred\\033[0m\\302\\233 \\342\\200\\256gnp"
    task = new_id("task")
    with chat(served, "--task", task) as terminal:
        terminal.expect(PROMPT)
        said(terminal, f"run printf '{evil}'")
        terminal.expect("The command returned")
        terminal.expect(PROMPT)
        terminal.press(CTRL_O)
        terminal.expect(PROMPT)
        for command in ("/tasks", "/expand", "/memory printf", "/inbox"):
            said(terminal, command)
            terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    for sequence in ("\x1b]0;", "\x1b[2J", "\x1b[31mred", "\x9b", "\u202e", "\x07"):
        assert sequence not in terminal.raw, repr(sequence)
    watched = served.aster("watch", task, "--from", "0", "--until-idle")
    assert "owned" in watched.stdout
    assert not set("\x1b\x07\x9b\u202e") & set(watched.stdout)


def test_a_terminal_that_only_prints_is_enough(served: Home) -> None:
    with Terminal("chat", env=served.env, cwd=served.directory, kind="dumb") as terminal:
        terminal.expect("> ")
        said(terminal, "ask me: Which colour?")
        terminal.expect(r"\? Which colour\?")
        terminal.expect("answer: ")
        said(terminal, "blue")
        terminal.expect("You answered:")
        terminal.expect("> ")
        said(terminal, "/exit")
        assert terminal.wait() == 0
    assert "\x1b" not in terminal.raw


def test_no_colour_is_used_where_none_is_wanted(served: Home) -> None:
    env = {**served.env, "NO_COLOR": "1"}
    with Terminal("chat", env=env, cwd=served.directory) as terminal:
        terminal.expect(PROMPT)
        said(terminal, "run echo plain")
        terminal.expect("⎿ plain")
        terminal.expect(PROMPT)
        said(terminal, "/theme contrast")
        terminal.expect("Theme contrast")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", terminal.raw) for code in found.split(";") if code}
    assert codes <= {"0", "1", "2", "3", "4", "7"}
    (served.directory / "chat-theme").unlink()


def test_what_is_typed_before_a_question_is_no_answer_to_it(served: Home) -> None:
    with chat(served) as terminal:
        terminal.expect(PROMPT)
        terminal.press(f"run rm -rf *{ENTER}yyyy")
        terminal.expect(r"\[y\]es \[n\]o")
        terminal.press("n")
        terminal.expect("permission_denied")
        terminal.expect(PROMPT)
        terminal.press(CTRL_C)
        terminal.expect("Ctrl-C again leaves")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0


def test_a_line_typed_before_a_question_is_no_answer_to_it_where_lines_are_all_there_is(served: Home) -> None:
    with Terminal("chat", env=served.env, cwd=served.directory, kind="dumb") as terminal:
        terminal.expect("> ")
        terminal.press(f"run rm -rf *{ENTER}yes{ENTER}yes{ENTER}")
        terminal.expect(r"\[y\]es, \[n\]o")
        said(terminal, "no, keep them")
        terminal.expect("permission_denied")
        terminal.expect("> ")
        terminal.press(CTRL_D)
        assert terminal.wait() == 0


def test_a_terminal_that_is_read_slowly_gets_everything(served: Home) -> None:
    """Reading lines must not make the terminal non-blocking: what is written to it would be lost."""
    with Terminal("chat", env=served.env, cwd=served.directory, kind="dumb") as terminal:
        terminal.expect("> ")
        said(terminal, "[[text=40000 chunk=all]]")
        time.sleep(1.0)  # nobody looks at the screen for a while, and it fills up
        terminal.expect("w040000")
        terminal.expect("> ")
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    assert "non-block" not in terminal.text
    assert "Errno" not in terminal.text


def test_a_word_at_an_approval_is_read_as_a_whole(served: Home) -> None:
    """Each begins with, or has in it, a letter that alone would be a yes, or a yes for ever; so does what is pasted
    where pasting looks like typing."""
    task = new_id("task")
    with chat(served, "--task", task) as terminal:
        terminal.expect(PROMPT)
        for line in ("/exit", "explain", "try", "you no", "gosh"):
            said(terminal, "run rm -rf *")
            terminal.expect("instead:")
            terminal.press(line)
            terminal.expect(re.escape(line))
            terminal.press(ENTER)
            terminal.expect("permission_denied")
            terminal.expect(PROMPT)
        said(terminal, "run rm -rf *")
        terminal.expect("instead:")
        terminal.press(f"y{ENTER}")
        terminal.expect("y")
        time.sleep(2 * WORD_SECONDS)  # a key would have answered by now
        terminal.press(CTRL_C)
        terminal.expect("cancelled")
        terminal.expect(PROMPT)
        terminal.press(CTRL_D)
        assert terminal.wait() == 0
    resolved = served.call("tasks", "events", task, "--types", "hitl_resolved", "--json").stdout.splitlines()
    assert "yes" not in {json.loads(line)["answer"] for line in resolved}
    assert not any("always" in line for line in resolved)
