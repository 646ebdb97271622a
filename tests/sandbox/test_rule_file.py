"""The operator's rules: read strictly at start, read again when they change, never lost to a broken edit."""

from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox.rule_file import RuleFile, read


def test_rules_are_read_with_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text('{"rules": [{"behavior": "deny", "path": "*.env"}, {"behavior": "ask", "every_time": true}]}')
    first, second = RuleFile(file).rules
    assert (first.id, first.tool, first.pattern, first.behavior) == ("1", "*", "*.env", "deny")
    assert (second.id, second.pattern, second.every_time) == ("2", "*", True)
    assert RuleFile(None).rules == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('"x"', "list of rules"),
        ('{"rules": 1}', "list of rules"),
        ("[{}]", "rule 1"),
        ('[{"behavior": "allow"}, {"behavior": "never"}]', "rule 2"),
        ('[{"behavior": "deny", "tol": "bash"}]', "tol"),
        ('[{"behavior": "deny", "path": "a", "content": "b"}]', "one of them"),
        ('[{"behavior": "deny", "every_time": true}]', "every_time"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text)
    with pytest.raises(EngineError) as refused:
        RuleFile(file)
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    assert said in refused.value.message
    assert "PERMISSION_RULES_PATH" in refused.value.message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        read(tmp_path / "none.json")


def test_a_change_holds_at_once_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text("[]")
    rules = RuleFile(file)
    assert rules.rules == ()
    file.write_text('[{"behavior": "deny", "tool": "bash"}]')
    assert len(rules.rules) == 1
    file.write_text("[")
    assert len(rules.rules) == 1
    file.unlink()
    assert len(rules.rules) == 1
