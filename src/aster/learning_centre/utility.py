"""What something that was learned is worth: measured before it was trusted, and counted ever since.

Before, it is the gain of its trial; since, how often it was shown to a turn and what became of those turns. The worth
is the formula that lessons are ranked by; for everything else it is how sure it is and how strongly it is remembered.
"""

from aster.brain.memory_records import MemoryRow
from aster.contracts.learning import Trial
from aster.contracts.model import Contract
from aster.learning_centre.decay import hit_rate
from aster.memory import decay


class Utility(Contract):
    """`evidence` is the number of turns it was tried on, `gain` what it made them better by (None when it never was on
    trial); `uses`, `helpful` and `harmful` count turns since; `hit_rate` is None as long as too few tell."""

    worth: float
    uses: int
    helpful: int = 0
    harmful: int = 0
    hit_rate: float | None = None
    evidence: int = 0
    wins: int = 0
    losses: int = 0
    gain: float | None = None


def utility(row: MemoryRow, trial: Trial | None, now: int) -> Utility:
    """What a record is worth by now; with the trial it came from, if it did."""
    lesson = row.kind == "lesson"
    worth = (
        decay.utility(row) if lesson else round(decay.confidence(row, now) * (1 + decay.strength(row, now)) / 2, 4)
    )
    return Utility(
        worth=worth,
        uses=row.uses,
        helpful=row.fields["helpful"] if lesson else 0,
        harmful=row.fields["harmful"] if lesson else 0,
        hit_rate=hit_rate(row),
        evidence=trial.turns if trial is not None else 0,
        wins=trial.wins if trial is not None else 0,
        losses=trial.losses if trial is not None else 0,
        gain=trial.gain if trial is not None else None,
    )
