from hypothesis import given
from hypothesis import strategies as st

from aster.memory.retrieval.strength import faded, half_life

DAY = 86_400_000


@given(st.integers(0, 4000), st.integers(0, 1000))
def test_more_uses_fade_more_slowly_and_never_beyond_the_most(days: int, uses: int) -> None:
    now = 5000 * DAY
    lost = faded(now, now - days * DAY, uses)
    assert 0 <= lost <= 0.30
    assert faded(now, now - days * DAY, uses + 1) <= lost
    assert faded(now, now - (days + 1) * DAY, uses) >= lost


def test_half_life_is_thirty_days_unused() -> None:
    assert half_life(0) == 30.0
    assert 50 < half_life(1) < 51


def test_being_used_makes_it_young_again_and_the_future_is_not_old() -> None:
    now = 100 * DAY
    assert faded(now, 0, used=now) == 0
    assert faded(now, now + DAY) == 0
