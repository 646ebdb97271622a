"""A verdict follows from the numbers of a trial, and from nothing else."""

import pytest

from aster.contracts.learning import Arm, Trial, TrialRun, TrialStatus
from aster.learning_centre.verdicts import PATIENCE_MS, decided, pairs, summed

NOW = 1_000_000


def run(turn: str, arm: Arm, score: float) -> TrialRun:
    return TrialRun(trial_id="t", turn_id=turn, arm=arm, task_id="a", replay_task_id="r", score=score, cost_usd=0.5)


def trial(*scores: tuple[float, float], created_at: int = NOW) -> Trial:
    """One whose turns had these scores without and with the item."""
    runs = [
        one
        for at, (without, with_) in enumerate(scores)
        for one in (run(f"turn-{at}", "without", without), run(f"turn-{at}", "with", with_))
    ]
    return Trial(
        trial_id="t",
        user_id="u",
        kind="lesson",
        fields={},
        changeset_id="c",
        place=0,
        status="running",
        created_at=created_at,
        runs=tuple(runs),
    )


@pytest.mark.parametrize(
    ("scores", "status"),
    [
        ([(0.5, 0.9)] * 3, "promoted"),
        ([(0.5, 0.9), (0.5, 0.9), (0.9, 0.5)], "promoted"),
        ([(0.5, 0.9)] * 2, "undecided"),
        ([(0.5, 0.55)] * 5, "undecided"),
        ([(0.5, 0.5)] * 5, "undecided"),
        ([(0.9, 0.5)] * 3, "retired"),
        ([(0.9, 0.5)] * 2, "retired"),
        ([(0.9, 0.5)], "undecided"),
        ([(0.9, 0.8), (0.9, 0.8), (0.5, 0.5)], "retired"),
        ([(0.1, 1.0), (0.5, 0.4), (0.5, 0.4)], "retired"),
        ([], "undecided"),
    ],
)
def test_promotion_needs_a_gain_over_enough_turns(scores: list[tuple[float, float]], status: TrialStatus) -> None:
    assert decided(summed(trial(*scores)), NOW).status == status


def test_what_cannot_show_that_it_helps_is_dropped_after_a_month() -> None:
    waiting = summed(trial((0.5, 0.5), created_at=NOW))
    assert decided(waiting, NOW + PATIENCE_MS - 1).status == "undecided"
    late = decided(waiting, NOW + PATIENCE_MS)
    assert late.status == "retired"
    assert "30 days" in late.reason


def test_the_numbers_are_means_over_whole_pairs() -> None:
    made = trial((0.4, 0.8), (0.6, 0.5))
    half = summed(Trial(**{**_fields(made), "runs": (*made.runs, run("turn-9", "with", 1.0))}))
    assert len(pairs(half)) == half.turns == 2
    assert (half.with_score, half.without_score, half.gain) == (0.65, 0.5, 0.15)
    assert (half.wins, half.losses, half.cost_usd) == (1, 1, 2.5)
    assert "0.65 with it, 0.50 without" in decided(half, NOW).reason


def _fields(made: Trial) -> dict[str, object]:
    return {name: getattr(made, name) for name in made.__struct_fields__}
