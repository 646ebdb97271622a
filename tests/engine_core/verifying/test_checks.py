"""What can be proven without a model: honest answers pass, false ones do not, and no text makes it slow."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.engine_core.verifying.checks import MOST_ISSUES, disputes
from aster.engine_core.verifying.evidence import MOST_KNOWN, Case, bookkeeping
from aster.engine_core.verifying.outcomes import admits
from tests.engine_core.verifying.corpus import FALSE, HONEST, LOG, generated
from tests.engine_core.verifying.sample import bash, case, tool


@pytest.mark.parametrize("honest", HONEST, ids=lambda one: one.answer[:40])
def test_an_honest_answer_is_not_disputed(honest: Case) -> None:
    assert disputes(honest) == ()


def test_made_up_honest_answers_are_not_disputed() -> None:
    wrong = [(one.answer, one.exhibits[0].text, disputes(one)) for one in generated(1000) if disputes(one)]
    assert wrong == []


@pytest.mark.parametrize(("kind", "false"), FALSE, ids=[one.answer[:40] for _, one in FALSE])
def test_a_false_answer_is_disputed(kind: str, false: Case) -> None:
    (issue, *_) = disputes(false)
    signs = {"number": ("the tools gave", "is in nothing"), "quote": ("nothing the tools",)}
    outcome = ("failed", "ended with exit status")
    assert any(sign in issue for sign in signs.get(kind, outcome))


def test_a_long_answer_does_not_own_up_by_a_stray_not() -> None:
    filler = "The bridge was built of stone and is still the pride of the town, not only in spring. " * 10
    assert not admits(filler)
    assert admits(f"{filler} I could not reach the page.")


def test_what_a_person_or_an_earlier_turn_has_said_is_known() -> None:
    evidence = tool("timeout: 30")
    assert disputes(case("The timeout is 45.", evidence))
    assert not disputes(case("The timeout is 45.", evidence, question="Why is it 45 and not 30?"))


def test_nothing_is_said_to_be_missing_from_what_was_not_read_whole() -> None:
    assert not disputes(case("The timeout is 45.", tool("timeout: 30\n" + "x" * MOST_KNOWN)))


def test_there_are_never_many_issues() -> None:
    lies = " ".join(f'The log says "the moon is made of cheese number {n}".' for n in range(50))
    assert len(disputes(case(lies, tool(LOG)))) == MOST_ISSUES


@pytest.mark.parametrize(
    "tool_name",
    ["todo_write", "TodoWrite", "memory-search", "Memory_Write", "ask_user", "AskUser", "flag_uncertainty"],
)
def test_books_are_no_evidence_however_they_are_called(tool_name: str) -> None:
    assert bookkeeping(tool_name)


@pytest.mark.parametrize("tool_name", ["bash", "read_file", "web_fetch", "Grep", "mcp__git__log", "team"])
def test_looking_at_the_world_is_evidence(tool_name: str) -> None:
    assert bookkeeping(tool_name) == (tool_name == "team")


@pytest.mark.parametrize(
    "text",
    [
        "it printed " * 4000,
        "1 passed " * 4000,
        '"' * 20_000,
        'error is "a b c d e f g h i j k l m n" ' * 500,
        "```" * 8000,
        "output is 12" * 3000,
        "a1" * 20_000,
        "exit code " * 4000,
        "tests " * 5000,
        "{" * 20_000,
    ],
)
def test_no_text_makes_it_slow(text: str) -> None:
    began = time.perf_counter()
    disputes(case(text, bash(text, "pytest", 1), tool(text * 5, call_id="c2")))
    assert time.perf_counter() - began < 2


@settings(max_examples=150, deadline=None)
@given(answer=st.text(max_size=300), output=st.text(max_size=300), code=st.integers(0, 3))
def test_any_text_is_read(answer: str, output: str, code: int) -> None:
    assert isinstance(disputes(case(answer, bash(output, "pytest", code))), tuple)


@settings(max_examples=150, deadline=None)
@given(words=st.lists(st.from_regex(r"[a-z]{2,8}|[0-9]{1,4}", fullmatch=True), min_size=4, max_size=30))
def test_what_was_really_said_can_always_be_quoted(words: list[str]) -> None:
    text = " ".join(words)
    assert not disputes(case(f'The file says "{text}".', tool(f"# Title\n{text}\nand more")))


def test_a_short_answer_costs_microseconds() -> None:
    short = case("I looked at the file and wrote the summary you asked for.", *[tool("ok " * 50)] * 10)
    began = time.perf_counter()
    for _ in range(200):
        disputes(Case(short.answer, short.exhibits, short.question, short.told))
    assert (time.perf_counter() - began) / 200 < 0.0005
