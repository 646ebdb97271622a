"""Slash commands: every one is on the page of the terminal, and a wrong word is answered with the nearest."""

import json
from pathlib import Path

import pytest

from aster.cli.chat.commands import COMMANDS
from aster.infra.ids import new_id
from tests.cli.program import Home

PAGE = Path(__file__).parents[3] / "docs" / "terminal.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_on_the_page(name: str) -> None:
    page = PAGE.read_text()
    assert f"`/{name}`" in page or f"`/{name} " in page


def test_every_command_answers_in_a_pipe(served: Home) -> None:
    """One after the other in one task, with something to look at."""
    task = new_id("task")
    said = [
        "run echo walrus",
        "/help /cost",
        "/tasks walrus",
        "/resume",
        "/resume 1",
        "/undo",
        "/retry",
        "/edit run echo seal",
        "/expand",
        "/expand 99",
        "/expand thinking",
        "/todo",
        "/context",
        "/cost",
        "/permissions",
        "/memory",
        "/memory walrus",
        "/skills review",
        "/inbox",
        "/model",
        "/model nonsense",
        "/mode nonsense",
        "/mode plan",
        "/theme",
        "/theme nonsense",
        "/goal",
        "/goal the tests pass",
        "/goal clear",
        "/cancel",
        "/new",
        "/retry",
        "/edit",
        "/fork",
        "/context",
        "/hlep",
        "/xyzzy",
        "/exit",
        "never said",
    ]
    done = served.aster("chat", "--task", task, said="\n".join(said) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    for answer in (
        "/cost  tokens and money of this task",
        f" 1. {task}",
        "Say which: /resume NUMBER",
        "! ",
        "* bash  echo seal\n  seal",
        "bash (done, ",
        "No tool has been called",
        "Nothing was thought aloud",
        "This task has no list of things to do.",
        "The last call had about",
        "3 turns, ",
        "Mode: default.",
        "has no goal.",
        "Goal [active]: the tests pass",
        "The task has no goal any more.",
        "/memory TEXT searches",
        "code-reviewer",
        "The next message goes to demo.",
        "nonsense is not among the models",
        "Modes: default, plan, auto, bypass.",
        "The next message runs in mode plan.",
        "Themes: dark, light, contrast, mono.",
        "There is no theme nonsense",
        "You have said nothing in this task yet.",
        "There is nothing to fork yet.",
        "There is no /hlep. Did you mean /help?",
        "There is no /xyzzy. /help lists the commands.",
    ):
        assert answer in done.stdout, answer
    assert "never said" not in done.stdout
    assert done.stdout.count("* bash  echo walrus\n  walrus\n") == 3


def test_a_chat_goes_on_with_the_newest_task(served: Home) -> None:
    task = new_id("task")
    served.call("run", "hello there", "--task", task)
    done = served.aster("chat", "--resume", said="again\n")
    assert f"Task {task}." in done.stdout
    assert "> hello there" in done.stdout
    turns = json.loads(served.call("tasks", "show", task, "--json").stdout)["turns"]
    assert len(turns) == 2
