"""`aster tasks context`: the calls of a task, one of them, two compared."""

import json

import pytest

from aster.infra.ids import new_id
from tests.cli.program import Home


@pytest.fixture
def task(served: Home) -> str:
    name = new_id("task")
    for number in (1, 2):
        assert served.call("run", f"[[text={number} id={name}]]", "--task", name).returncode == 0
    return name


def test_calls_are_listed_shown_and_compared(served: Home, task: str) -> None:
    lines = served.call("tasks", "context", task).stdout.splitlines()
    assert lines[0].split()[:3] == ["call", "step", "model"]
    assert len(lines) == 3
    calls = json.loads(served.call("tasks", "context", task, "--json").stdout)["calls"]
    shown = served.call("tasks", "context", task, "--call", str(calls[0]["call"])).stdout
    blocks = [line.split()[0] for line in shown.splitlines()]
    assert (blocks[:2], blocks[-1]) == (["block", "system"], "message")
    assert blocks.index("tools") < blocks.index("history")
    compared = served.call("tasks", "context", task, "--diff").stdout.splitlines()
    assert compared[-1] == f"Call {calls[0]['call']} begins with all of call {calls[1]['call']}."
    named = served.call(
        *("tasks", "context", task, "--from", str(calls[1]["call"]), "--to", str(calls[0]["call"]), "--json")
    )
    assert "moved" not in json.loads(named.stdout)


def test_a_call_that_is_not_there(served: Home, task: str) -> None:
    refused = served.call("tasks", "context", task, "--call", "1")
    assert refused.returncode != 0
    assert "no model call 1" in refused.stderr
