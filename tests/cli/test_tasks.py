"""`aster tasks`: lists for people, JSON for programs."""

import json

import pytest

from aster.infra.ids import new_id
from tests.cli.program import Home


@pytest.fixture
def task(served: Home) -> str:
    name = new_id("task")
    assert served.call("run", f"[[text=3 id={name}]]", "--task", name).returncode == 0
    return name


def test_the_newest_task_is_listed_first(served: Home, task: str) -> None:
    shown = served.aster("tasks")
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["task", "status", "changed", "title"]
    assert lines[1].split()[:2] == [task, "idle"]
    listed = json.loads(served.call("tasks", "list", "--search", task, "--json").stdout)
    assert [found["task_id"] for found in listed["tasks"]] == [task]
    assert served.call("tasks", "list", "--search", "no such title").stdout == "There are no tasks.\n"


def test_a_task_is_shown_with_its_turns(served: Home, task: str) -> None:
    shown = served.call("tasks", "show", task)
    assert "completed" in shown.stdout
    assert "end_turn" in shown.stdout
    assert json.loads(served.call("tasks", "show", task, "--json").stdout)["task_id"] == task


def test_events_are_lines(served: Home, task: str) -> None:
    lines = served.call("tasks", "events", task).stdout.splitlines()
    assert lines[0].split()[0] == "1"
    assert "thread_lifecycle" in lines[0]
    assert "completed" in lines[-1]
    some = served.call("tasks", "events", task, "--types", "user_message", "--json").stdout.splitlines()
    assert [json.loads(line)["type"] for line in some] == ["user_message"]
    last = json.loads(served.call("tasks", "events", task, "--json").stdout.splitlines()[-1])
    rest = served.call("tasks", "events", task, "--after", str(last["seq"] - 1), "--json").stdout
    assert json.loads(rest) == last


def test_fork_delete_and_cancel(served: Home, task: str) -> None:
    made = served.call("tasks", "fork", task, "--seq", "2", "--as", f"{task}-b")
    assert made.stdout == f"{task}-b\n"
    assert served.call("tasks", "delete", f"{task}-b").stdout == f"Deleted {task}-b.\n"
    gone = served.call("tasks", "show", f"{task}-b")
    assert (gone.returncode, gone.stderr) == (1, f"aster: There is no task '{task}-b'.\n")
    idle = served.call("tasks", "cancel", task)
    assert idle.returncode == 1
    waiting = new_id("task")
    assert served.call("run", "ask me", "--task", waiting).returncode == 3
    assert "waits: What is your favourite colour?" in served.call("tasks", "show", waiting).stdout
    done = json.loads(served.call("tasks", "cancel", waiting, "--json").stdout)
    assert (done["task_id"], done["status"]) == (waiting, "cancelled")


def test_a_task_can_be_compacted(served: Home, task: str) -> None:
    shown = served.call("tasks", "compact", task)
    assert shown.stdout.startswith("Nothing was changed: ")
    for number in range(4):
        assert served.call("run", f"[[text=1500 id={number}]] go on", "--task", task).returncode == 0
    done = json.loads(served.call("tasks", "compact", task, "--focus", "the words", "--json").stdout)
    assert done["status"] == "compacted"
    assert done["after_tokens"] < done["before_tokens"]
