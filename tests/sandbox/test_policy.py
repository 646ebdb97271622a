"""Modes and rules: denial first, then the mode, then rules, then the judgement."""

import pytest

from aster.contracts.permissions import Behavior
from aster.contracts.permissions import PermissionMode as Mode
from aster.contracts.tools import Effect
from aster.sandbox.permissions import ALLOW, Decision
from aster.sandbox.policy import Policy, govern
from aster.sandbox.rules import Rule

ASK = Decision(behavior="ask", reason="dangerous", effects=("deletes",))
DENY = Decision(behavior="deny", reason="outside")
MODES: list[Mode] = ["default", "plan", "auto", "bypass"]


def bash(policy: Policy, command: str, effect: Effect = Effect.IRREVERSIBLE, judged: Decision = ALLOW) -> Behavior:
    return govern(policy, "bash", {"command": command}, effect, judged).behavior


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "command", ["curl x", "curl x | sh", "ls; curl x", "echo $(curl x)", "/usr/bin/curl x; true"]
)
def test_a_denial_wins_in_every_mode(mode: Mode, command: str) -> None:
    rules = (Rule(behavior="allow", tool="bash"), Rule(behavior="deny", pattern="*curl *"))
    assert bash(Policy(mode=mode, rules=rules), command) == "deny"


@pytest.mark.parametrize("mode", MODES)
def test_what_the_judgement_denies_no_rule_allows(mode: Mode) -> None:
    policy = Policy(mode=mode, rules=(Rule(behavior="allow"),))
    assert govern(policy, "write_file", {"path": "/etc/x"}, Effect.REVERSIBLE, DENY).behavior == "deny"


def test_plan_mode_lets_nothing_change() -> None:
    plan = Policy(mode="plan", rules=(Rule(behavior="allow", tool="*"),))
    assert bash(plan, "echo x > f; true") == "deny"
    assert bash(plan, "ls", Effect.PURE) == "allow"
    assert govern(plan, "db.drop", {}, Effect.IRREVERSIBLE, ALLOW).behavior == "deny"
    assert govern(plan, "read_file", {"path": "x"}, Effect.PURE, ALLOW).behavior == "allow"


def test_auto_mode_asks_before_every_change() -> None:
    auto = Policy(mode="auto")
    assert bash(auto, "ls", Effect.PURE) == "allow"
    assert bash(auto, "touch x") == "ask"
    assert govern(auto, "write_file", {"path": "x"}, Effect.REVERSIBLE, ALLOW).behavior == "ask"


def test_bypass_never_asks() -> None:
    assert bash(Policy(mode="bypass"), "rm -rf .", judged=ASK) == "allow"


def test_without_rules_the_judgement_stands() -> None:
    assert govern(Policy(), "bash", {"command": "rm -rf ."}, Effect.IRREVERSIBLE, ASK) == ASK
    assert bash(Policy(), "touch x") == "allow"


def test_an_identical_call_that_was_always_allowed_is_not_asked_again() -> None:
    granted = Policy(rules=(Rule(behavior="allow", tool="bash", pattern="rm -rf . && make > log"),))
    assert bash(granted, "rm -rf . && make > log", judged=ASK) == "allow"
    assert bash(granted, "rm -rf . && make > log2", judged=ASK) == "ask"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push --force", "allow"),
        ("git push --force; rm -rf .", "ask"),
        ("git push --force > log", "ask"),
        ("git push --force $(rm -rf .)", "ask"),
        ("git push --force &", "ask"),
        ("X=1 git push --force", "ask"),
        ("rm -rf .", "ask"),
    ],
)
def test_nothing_rides_along_behind_an_allowed_command(command: str, expected: Behavior) -> None:
    policy = Policy(rules=(Rule(behavior="allow", tool="bash", pattern="git push*"),))
    assert bash(policy, command, judged=ASK) == expected


def test_ask_rules_come_before_allow_rules() -> None:
    rules = (Rule(behavior="allow", tool="bash", pattern="npm *"), Rule(behavior="ask", pattern="npm publish*"))
    assert bash(Policy(rules=rules), "npm test") == "allow"
    decision = govern(Policy(rules=rules), "bash", {"command": "npm publish"}, Effect.IRREVERSIBLE, ASK)
    assert (decision.behavior, decision.effects) == ("ask", ("deletes",))


def test_rules_for_files_match_paths() -> None:
    policy = Policy(rules=(Rule(behavior="deny", tool="*_file", pattern="*.env"),))
    assert govern(policy, "read_file", {"path": "a/.env"}, Effect.PURE, ALLOW).behavior == "deny"
    assert govern(policy, "read_file", {"path": "a/x"}, Effect.PURE, ALLOW).behavior == "allow"
