"""What something learned is worth is told by its trial and by the turns since."""

from aster.contracts.learning import Trial
from aster.learning_centre.utility import utility
from aster.memory import decay
from tests.learning_centre.rows import NOW, record


def test_a_lesson_is_worth_what_it_is_ranked_by() -> None:
    row = record("lesson", 2, helpful=3, harmful=1, verified=1, uses=5, confidence=0.8)
    trial = Trial(
        trial_id="t",
        user_id="u",
        kind="lesson",
        fields={},
        changeset_id="c",
        place=0,
        status="promoted",
        created_at=0,
        turns=5,
        gain=0.2,
        wins=4,
        losses=1,
    )
    found = utility(row, trial, NOW)
    assert found.worth == decay.utility(row)
    assert (found.uses, found.helpful, found.harmful, found.hit_rate) == (5, 3, 1, 0.75)
    assert (found.evidence, found.wins, found.losses, found.gain) == (5, 4, 1, 0.2)


def test_what_was_never_on_trial_fades_with_its_memory() -> None:
    fresh, old = record("fact", 0), record("fact", 200)
    assert utility(fresh, None, NOW).worth > utility(old, None, NOW).worth > 0
    assert utility(fresh, None, NOW).gain is None
