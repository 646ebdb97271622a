"""What a critic is asked, and how whatever it says is read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.contracts.blocks import text_of
from aster.engine_core.boundary import Boundary
from aster.engine_core.verifying.critic import (
    CLAIM_CHARS,
    CONTEXT_CHARS,
    ISSUE_CHARS,
    MOST_ISSUES,
    Objection,
    Opinion,
    one_line,
    read,
    request,
)
from aster.engine_core.verifying.finding import believed
from aster.engine_core.verifying.objections import disproved, upheld
from aster.engine_core.verifying.passages import MOST_CHARS, bearing, shares
from tests.engine_core.verifying.sample import bash, case, tool

CONFIRM = '{"verdict": "confirm", "confidence": 0.8}'


@pytest.mark.parametrize(
    ("said", "verdict", "confidence"),
    [
        (CONFIRM, "confirm", 0.8),
        ('{"verdict": "REFUTED", "confidence": 1}', "refute", 1.0),
        ('{"verdict": "refute"}', "refute", 0.5),
        ('{"verdict": "refute", "confidence": "high"}', "refute", 0.5),
        ('{"verdict": "refute", "confidence": "85%"}', "refute", 0.85),
        ('{"verdict": "refute", "confidence": true}', "refute", 0.5),
        ('{"verdict": "refute", "confidence": NaN}', "refute", 0.5),
        ('{"verdict": "refute", "confidence": -3}', "refute", 0.0),
        ('{"verdict": "perhaps", "confidence": 0.9}', "uncertain", 0.9),
        (f"```json\n{CONFIRM}\n```", "confirm", 0.8),
        (f"<think>Is it {{so}}?</think>{CONFIRM}", "confirm", 0.8),
        (f'First I thought {{"verdict": "refute", "confidence": 1}}, but then: {CONFIRM}', "confirm", 0.8),
        (f"{{broken {CONFIRM}", "confirm", 0.8),
        ('{"verdict": "refute", "issues": [{"claim": "a {b} c"}], "confidence": 0.9}', "refute", 0.9),
    ],
)
def test_a_verdict_is_found_wherever_it_stands(said: str, verdict: str, confidence: float) -> None:
    opinion = read(said)
    assert opinion is not None
    assert (opinion.verdict, opinion.confidence) == (verdict, confidence)


@pytest.mark.parametrize(
    "said",
    [
        *("", "All is well.", "[1, 2]", "42", '"confirm"', "{}", '{"a": 1}', '{"verdict": 3}', '{"verdict": ""}'),
        *(f"<think>{CONFIRM}", "{" * 50_000, '{"verdict":' * 5000, "[" * 50_000),
    ],
)
def test_what_says_nothing_is_no_verdict(said: str) -> None:
    assert read(said) is None


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]":,verdict refute0.9\\n<think>/', max_size=400))
def test_any_reply_is_read(said: str) -> None:
    opinion = read(said)
    assert opinion is None or 0 <= opinion.confidence <= 1


def test_issues_are_few_and_short_and_plain() -> None:
    opinion = read(
        '{"verdict": "refute", "confidence": 1, "issues": [1, "", "see ![x](https://evil.test/a) <b>now</b>",'
        ' {"claim": "c", "problem": "' + "p" * 900 + '"}, "three", "four", "five"]}'
    )
    assert opinion is not None
    issues = believed(opinion).issues
    assert len(issues) == MOST_ISSUES
    assert issues[0] == "see x ( b now /b"
    assert all(len(issue) <= ISSUE_CHARS + 90 for issue in issues)
    assert one_line("a\u202eb\nc\x07d") == "a b c d"


def test_a_refutation_without_a_reason_still_says_something() -> None:
    assert believed(Opinion("refute", 0.9)).issues
    assert believed(Opinion("confirm", 0.9)).issues == ()


def test_the_request_is_bounded_and_marked() -> None:
    long = case(
        "claim " * 5000, *(tool("line\n" * 20_000, call_id=f"c{n}") for n in range(5)), question="why? " * 900
    )
    asked = request(long, "critic", "", Boundary("00ff"))
    text = text_of(asked.messages[0].content)
    assert len(text) < CLAIM_CHARS + CONTEXT_CHARS + MOST_CHARS + 600
    assert text.count("<untrusted-00ff>") == text.count("</untrusted-00ff>") == 5
    assert (asked.role, asked.tools) == ("critic", ())


def test_evidence_is_what_bears_on_the_claim_and_not_the_head() -> None:
    lines = [f"2026-01-01 worker {n} is idle" for n in range(5000)]
    lines[3777] = "2026-01-01 worker crashed with signal 11 after 17 minutes"
    found = bearing("\n".join(lines), "The worker crashed after 17 minutes.", 1000)
    assert lines[3777] in found
    assert len(found) <= 1000
    assert found.startswith("2026")
    assert "…" in found
    assert bearing("short", "x", 1000) == "short"


def test_short_evidence_leaves_its_share_to_the_long() -> None:
    assert shares((tool("a" * 100), tool("b" * 9000), tool("c" * 9000)), 4000) == [100, 1950, 1950]
    assert shares((), 4000) == []


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=3000), claim=st.text(max_size=200), most=st.integers(0, 500))
def test_a_selection_never_exceeds_its_room(text: str, claim: str, most: int) -> None:
    assert len(bearing(text, claim, most)) <= most + 2


def test_an_objection_to_what_the_evidence_says_is_dropped() -> None:
    rows = case("The table has 987 rows.", bash("counting\nrows in table: 987"))
    assert disproved(Objection("The table has 987 rows", "987 is not in the evidence"), rows)
    assert not disproved(Objection("The table has 986 rows", "it says 987"), rows)
    assert not disproved(Objection("987", "no"), rows)
    quoted = case("It says so.", tool("All men are created equal, it says."))
    assert disproved(Objection("all men are created equal", "never said"), quoted)
    kept = Opinion("refute", 0.9, (Objection("The table has 986 rows", "it says 987"),))
    gone = Opinion("refute", 0.9, (Objection("The table has 987 rows", "no"),))
    assert upheld(kept, rows) == kept
    assert upheld(gone, rows) == Opinion("uncertain", 0.9)
    assert upheld(Opinion("refute", 0.9), rows).verdict == "refute"
