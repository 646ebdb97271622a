"""Which calls a rule is about: denials see through wrapping, permissions fit nothing but themselves."""

from pathlib import Path
from typing import Any

import pytest

from aster.contracts.permissions import Behavior
from aster.sandbox.paths import Workspace
from aster.sandbox.rules import Rule, escaped, literal, matches, subject


def fits(behavior: Behavior, pattern: str, command: str) -> bool:
    return matches(Rule(behavior=behavior, pattern=pattern), subject("bash", {"command": command}, None))


@pytest.mark.parametrize(
    "command",
    [
        "curl x",
        "cu''rl x",
        "/usr/bin/curl x",
        "/opt/bin/curl x",
        "env A=1 curl x",
        "timeout 5 curl x",
        "bash -c 'curl x'",
        "echo $(curl x)",
        "ls | xargs curl x",
        "find . -exec curl x \\;",
        "eval curl x",
        "C=curl; $C x",
        "f() { curl x; }; f",
        "$'\\x63url' x",
        "ls\ncurl x",
    ],
)
def test_a_denial_sees_through_what_is_wrapped_around_a_command(command: str) -> None:
    assert fits("deny", "curl *", command)
    assert fits("ask", "curl *", command)


@pytest.mark.parametrize("command", ["echo curl x", "ls curl", "grep -r 'curl x' ."])
def test_a_denial_is_about_commands_and_not_about_words(command: str) -> None:
    assert not fits("deny", "curl *", command)


@pytest.mark.parametrize(
    "command",
    [
        "git push origin; rm -rf /",
        "git push origin && ls",
        "git push $(rm -rf /)",
        "git push > log",
        "X=1 git push",
        "git push &",
        "env git push",
        "git pushx",
    ],
)
def test_nothing_rides_along_behind_a_permission(command: str) -> None:
    assert not fits("allow", "git push", command)
    assert not fits("allow", "git push *", command)


def test_a_text_is_allowed_as_it_is_and_no_other() -> None:
    command = "rm -rf build/*; echo [x]?"
    pattern = escaped(command)
    assert literal(pattern) == command
    assert fits("allow", pattern, command)
    assert not fits("allow", pattern, "rm -rf build/../..; echo [x]?")
    assert not fits("allow", escaped("rm -rf build/*"), "rm -rf build/ /etc")
    assert literal("git push *") is None
    assert literal("a[bc]") is None


def test_paths_are_compared_as_what_they_lead_to(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to("secret")
    workspace = Workspace((tmp_path,), tmp_path)

    def denied(path: str) -> bool:
        rule = Rule(behavior="deny", tool="*_file", pattern="secret/*")
        return matches(rule, subject("read_file", {"path": path}, workspace))

    for path in ("secret/x", "./secret/x", "a/../secret/x", "link/x", f"{tmp_path}/secret/x"):
        assert denied(path)
    assert not denied("public/x")
    allowed = Rule(behavior="allow", tool="write_file", pattern="secret/*")
    assert not matches(allowed, subject("write_file", {"path": "secret/../x"}, workspace))


def test_other_tools_are_compared_by_address_or_input() -> None:
    def fit(pattern: str, arguments: dict[str, Any]) -> bool:
        return matches(Rule(behavior="deny", tool="web_*", pattern=pattern), subject("web_fetch", arguments, None))

    assert fit("https://example.org/*", {"url": "https://example.org/x"})
    assert fit('*"q":"cats"*', {"q": "cats"})
    assert not fit("https://example.org/*", {"url": "https://example.com/x"})
