"""How an evaluator's word is read: whole, or not at all."""

import json
from typing import Any

import pytest

from aster.infra.settings import Settings
from aster.work.goals.evaluator import Judgement, read, request, seat
from aster.work.goals.transcript import Part

WORK = [Part("person", "Do it."), Part("agent", "Done: 12 tests pass.")]


def reply(**said: Any) -> str:
    return json.dumps(said)


def test_a_yes_counts_with_words_that_show_it() -> None:
    text = reply(ok=True, reason="They\npass.", evidence=["12 tests pass"])
    assert read(text, WORK) == Judgement(True, False, "They pass.")
    assert read(f"<think>{{}}</think>\n```json\n{text}\n```", WORK) == Judgement(True, False, "They pass.")


@pytest.mark.parametrize(
    "evidence", [[], None, "", ["x"], ["Do it."], ["13 tests pass"], ["12 tests pass", "and more"], [["12"]], [7]]
)
def test_a_yes_without_them_is_a_no(evidence: Any) -> None:
    found = read(reply(ok=True, reason="Trust me.", evidence=evidence), WORK)
    assert found == Judgement(False, False, "Nothing in the work so far shows it. Trust me.")


def test_a_no_and_an_impossible() -> None:
    assert read(reply(ok=False, reason="Not yet."), WORK) == Judgement(False, False, "Not yet.")
    assert read(reply(ok=False, impossible=True), WORK) == Judgement(False, True, "It gives no reason.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "[]",
        "true",
        '{"ok": 1}',
        '{"ok": "true"}',
        '{"ok": null}',
        '{"reason": "x"}',
        '{"ok": false, "impossible": "no"}',
        '{"ok": true, "impossible": true, "evidence": ["12 tests pass"]}',
        'Sure: {"ok": true, "evidence": ["12 tests pass"]}',
        '{"ok": true, "evidence": ["12 tests pass"]} {"ok": false}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_no_judgement(text: str) -> None:
    assert read(text, WORK) is None


def test_it_is_asked_without_tools_and_with_everything_between_marks() -> None:
    asked = request("Reach it.", WORK, lambda text: f"<{text}>", "untrusted", "critic", "")
    assert not asked.tools
    [message] = asked.messages
    assert "<Reach it.>" in str(message.content)
    assert "[agent] Done" in str(message.content)
    assert "<untrusted-code>" in str(asked.system)


@pytest.mark.parametrize(
    ("settings", "who"),
    [
        ({}, ("critic", "")),
        ({"llm_pool_worker": "http://127.0.0.1:1/v1|m"}, ("worker", "")),
        (
            {"llm_pool_worker": "http://127.0.0.1:1/v1|m", "llm_pool_critic": "http://127.0.0.1:1/v1|m"},
            ("critic", ""),
        ),
        ({"light_model": "small"}, ("foreground", "small")),
    ],
)
def test_somebody_else_is_asked_where_there_is_somebody(settings: dict[str, str], who: tuple[str, str]) -> None:
    assert seat(Settings.model_validate(settings)) == who
