"""How far long work is: a bar on a terminal, lines elsewhere, nothing for work that is short."""

import io
import json
from contextlib import redirect_stderr

import pytest

from aster.cli.progress import LINE_SECONDS, progress
from aster.infra.ids import new_id
from tests.cli.program import Home
from tests.cli.terminal import Terminal


def told(every: float = LINE_SECONDS, *, in_bytes: bool = False, quiet: bool = False) -> str:
    out = io.StringIO()
    with redirect_stderr(out), progress(in_bytes=in_bytes, quiet=quiet, every=every) as tell:
        for done in (0, 50, 100):
            tell("carrying\x1b[2J", done * 1_000_000, 100_000_000)
    return out.getvalue()


def test_lines_tell_how_far_it_is() -> None:
    assert told(every=0).splitlines() == [
        "carrying␛[2J: 0 of 100,000,000 (0 %)",
        "carrying␛[2J: 50,000,000 of 100,000,000 (50 %)",
        "carrying␛[2J: 100,000,000 of 100,000,000 (100 %)",
    ]
    assert told(every=0, in_bytes=True).splitlines()[1] == "carrying␛[2J: 50.0 MB of 100.0 MB (50 %)"


def test_short_work_says_nothing() -> None:
    assert told() == ""
    assert told(every=0, quiet=True) == ""


@pytest.mark.parametrize("action", ["backup", "import"])
def test_a_terminal_sees_a_bar(served: Home, action: str) -> None:
    file = served.directory / new_id("file")
    if action == "import":
        served.call("memory", "export", str(file))
        argv = ("memory", "import", str(file))
    else:
        argv = ("backup", str(file))
    with Terminal(*argv, env=served.env, cwd=served.directory) as terminal:
        terminal.expect("━")
        terminal.expect("Kept|Took in")
        assert terminal.wait() == 0
    assert "━" not in "\n".join(terminal.glass)


def test_vectors_that_are_still_made_can_be_waited_for(served: Home) -> None:
    for number in range(3):
        served.call("memory", "add", f"vector {number}", "--subject", new_id("s"))
    done = served.call("memory", "stats", "--wait", "--json")
    found = json.loads(done.stdout)
    assert found["pending"] == 0 or found.get("fault")
