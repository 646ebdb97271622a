"""What an "always" would store: the call itself, or its first words where that is harmless."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.permissions import GrantOffer
from aster.sandbox.offers import offer
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import Decision

AUTO = Decision(behavior="ask", decided_by="mode:auto")
DANGER = Decision(behavior="ask", effects=("deletes",))


def offered(tool: str, given: dict[str, Any], decision: Decision = AUTO) -> str | None:
    found = offer(tool, given, decision, Workspace((Path("/ws"),), Path("/ws")))
    assert found is None or isinstance(found, GrantOffer)
    return None if found is None else found.pattern


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("git commit -m x", "git commit *"),
        ("npm run build --prod", "npm run build *"),
        ("make", "make"),
        ("touch a b", "touch *"),
        ("git -C x push", "git -C x push"),
        ("bash run.sh", "bash run.sh"),
        ("python3 -c 'print(1)'", "python3 -c 'print(1)'"),
        ("./run.sh now", "./run.sh now"),
        ("rm a", "rm a"),
        ("touch a && ls", "touch a && ls"),
        ("touch *", "touch [*]"),
        ("echo x > y", "echo x > y"),
    ],
)
def test_the_first_words_of_a_harmless_plain_command_are_enough(command: str, pattern: str) -> None:
    assert offered("bash", {"command": command}) == pattern


def test_what_is_dangerous_is_granted_word_for_word() -> None:
    assert offered("bash", {"command": "git push --force"}, DANGER) == "git push --force"
    assert offered("bash", {"command": "rm -rf ../*"}, DANGER) == "rm -rf ../[*]"


def test_what_cannot_be_read_or_asks_every_time_is_not_granted() -> None:
    assert offered("bash", {"command": "rm '"}, DANGER) is None
    assert offered("bash", {"command": "ls " + "x" * 3000}, DANGER) is None
    always = Decision(behavior="ask", decided_by="rule:1", every_time=True)
    assert offered("write_file", {"path": "a"}, always) is None


def test_files_are_granted_by_path_and_other_tools_by_name() -> None:
    assert offered("write_file", {"path": "src/../a[1].py"}) == "a[[]1].py"
    assert offered("lookup", {"q": "x"}) == "*"
    assert offered("web_fetch", {"url": "https://example.org/a?b=*"}) == "https://example.org/*"
    assert offered("web_fetch", {"url": "example.org"}) == "example.org"
