"""What the runs of a trial come to: its numbers, and the verdict that follows from them alone.

An item is trusted on a measured gain over enough turns and dropped on a loss; what could not show in a month that it
helps is dropped too. Everything else waits for more turns.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from aster.contracts.learning import Trial, TrialRun, TrialStatus
from aster.learning_centre.judging import TIE

LEAST_TURNS: Final = 3
LEAST_GAIN: Final = 0.1
CLEARLY_HARMFUL: Final = 2
"""Turns made worse, and none better, after which nobody has to see more."""
PATIENCE_MS: Final = 30 * 86_400_000


class Verdict(NamedTuple):
    status: TrialStatus
    reason: str


def pairs(trial: Trial) -> list[tuple[TrialRun, TrialRun]]:
    """The turns that were replayed both ways, each without and with the item."""
    without = {run.turn_id: run for run in trial.runs if run.arm == "without"}
    return [(without[run.turn_id], run) for run in trial.runs if run.arm == "with" and run.turn_id in without]


def summed(trial: Trial) -> Trial:
    """A trial with the numbers that its runs come to."""
    both = pairs(trial)
    turns = len(both)
    differences = [with_.score - without.score for without, with_ in both]
    return replace(
        trial,
        turns=turns,
        with_score=_mean([with_.score for _, with_ in both]),
        without_score=_mean([without.score for without, _ in both]),
        gain=_mean(differences),
        wins=sum(difference >= TIE for difference in differences),
        losses=sum(difference <= -TIE for difference in differences),
        cost_usd=sum(run.cost_usd for run in trial.runs),
    )


def decided(trial: Trial, now: int) -> Verdict:
    """What the numbers of a trial come to."""
    told = (
        f"better in {trial.wins} and worse in {trial.losses} of {trial.turns} turns: {trial.with_score:.2f} with it,"
        f" {trial.without_score:.2f} without"
    )
    enough = trial.turns >= LEAST_TURNS
    if enough and trial.gain >= LEAST_GAIN and trial.wins > trial.losses:
        return Verdict("promoted", told)
    if enough and (trial.gain <= -LEAST_GAIN or trial.losses > trial.wins):
        return Verdict("retired", told)
    if trial.losses >= CLEARLY_HARMFUL and not trial.wins:
        return Verdict("retired", told)
    if now - trial.created_at >= PATIENCE_MS:
        return Verdict("retired", f"it could not show in 30 days that it helps; {told}")
    if not trial.turns:
        return Verdict("undecided", "there is no recorded turn yet on which it could be tried")
    return Verdict("undecided", f"more turns are needed; {told}")


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
