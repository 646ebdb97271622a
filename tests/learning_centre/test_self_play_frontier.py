"""The frontier: what a challenge came to moves it by the numbers that are promised."""

from random import Random
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.contracts.model import decode, encode
from aster.learning_centre.self_play.challenge import CLUSTERS
from aster.learning_centre.self_play.frontier import WINDOW, Frontier, Run, rested, scored
from aster.learning_centre.self_play.solving import failed_calls


def run(number: int = 0, *, passed: bool = True, attempts: int = 1, **more: Any) -> Run:
    usual: dict[str, Any] = {"cluster": "algo", "tier": "basic", "title": "x", "length": 1000}
    return Run(challenge=f"c{number}", at=number, passed=passed, attempts=attempts, **{**usual, **more})


def after(*runs: Run) -> Frontier:
    frontier = Frontier()
    for one in runs:
        frontier = frontier.noted(one)
    return frontier


def test_a_shorter_solution_is_a_gain_and_a_failure_is_minus_one() -> None:
    frontier = after(run(length=1000))
    assert frontier.compressed("algo", 750, passed=True) == pytest.approx(0.25)
    assert frontier.compressed("algo", 100, passed=False) == -1.0
    assert Frontier().compressed("algo", 750, passed=True) == 0.0
    assert after(run(length=1000), run(1, length=750)).of("algo").best == 750


def test_winning_without_getting_better_is_saturated_and_not_mastered() -> None:
    trivial = after(*(run(n, delta=0.0) for n in range(5))).of("algo")
    assert (trivial.mastered, trivial.saturated) == (False, True)
    better = after(*(run(n, delta=0.06 if n == 1 else 0.0) for n in range(5))).of("algo")
    assert better.mastered
    shaky = after(*(run(n, delta=0.06, attempts=2 if n == 4 else 1) for n in range(5))).of("algo")
    assert (shaky.mastered, shaky.saturated) == (False, False)
    assert not after(run(), run(1)).of("algo").saturated


def test_failures_and_tries_make_it_brittle() -> None:
    assert after(run(passed=False, attempts=3)).of("algo").brittle == 4
    assert after(run(attempts=3), run(attempts=2), run()).of("algo").brittle == 3
    assert after(run(passed=False), run(), run(), run()).of("algo").brittle == 0


def test_three_wins_at_once_are_a_tier_and_it_never_goes_down() -> None:
    assert after(run(), run()).of("algo").tier == "basic"
    up = after(run(), run(), run())
    assert up.of("algo").tier == "intermediate"
    for _ in range(10):
        up = up.noted(run(passed=False, attempts=3))
    assert up.of("algo").tier == "intermediate"
    assert after(*(run(n) for n in range(40))).of("algo").tier == "expert"


@pytest.mark.parametrize(
    ("before", "what", "seconds"),
    [
        (3600, run(delta=0.2), 1800),
        (3600, run(), 2700),
        (3600, run(passed=False, delta=-1.0), 7200),
        (3600, run(attempts=2), 3600),
        (700, run(delta=0.2), 600),
        (7200, run(passed=False, delta=-1.0), 7200),
    ],
)
def test_it_rests_longer_after_failures_within_limits(before: float, what: Run, seconds: float) -> None:
    assert rested(before, what) == seconds


def test_what_is_brittle_comes_first_and_what_is_saturated_last() -> None:
    frontier = after(run(passed=False, cluster="sql"), *(run(n, cluster="algo") for n in range(3)))
    chosen = [frontier.chosen(Random(n)) for n in range(400)]
    assert chosen.count("sql") > 300
    assert set(chosen) == set(CLUSTERS), "now and then it looks anywhere"
    assert 0.7 < chosen.count("sql") / 400 < 0.95
    everything = after(*(run(n, cluster=each) for each in CLUSTERS for n in range(3)))
    assert everything.chosen(Random(1)) in CLUSTERS


def test_only_the_newest_challenges_are_remembered_and_all_of_it_is_kept() -> None:
    frontier = after(*(run(n) for n in range(30)))
    assert (len(frontier.met), frontier.met[-1], frontier.count) == (WINDOW, "c29", 30)
    assert decode(encode(frontier), Frontier) == frontier


def test_the_score() -> None:
    assert scored(passed=True, delta=0.25, tool_errors=0) == pytest.approx(1.1)
    assert scored(passed=False, delta=-1.0, tool_errors=2) == pytest.approx(-0.2)


def called(tool: str, text: str, *, error: bool) -> list[Message]:
    return [
        Message(role="assistant", content=(ToolUseBlock(id="1", name=tool, input={}),)),
        Message(
            role="user",
            content=(ToolResultBlock(tool_use_id="1", content=(TextBlock(text=text),), is_error=error),),
        ),
    ]


@pytest.mark.parametrize(
    ("tool", "text", "error", "counted"),
    [
        ("read_file", "ERROR a\nERROR b", False, 0),
        ("read_file", "no such file", True, 0),
        ("bash", "Traceback (most recent call last)", True, 1),
        ("bash", "an Error in the middle of a text", False, 0),
    ],
)
def test_errors_are_counted_by_outcome_and_never_by_words(tool: str, text: str, error: bool, counted: int) -> None:
    assert failed_calls(called(tool, text, error=error)) == counted
