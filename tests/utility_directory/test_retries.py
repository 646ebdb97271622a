"""When a failed call is run again: what may pass, what may be repeated, how often and after how long."""

import pytest

from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.utility_directory.retries import MAX_RETRIES, delay


def failed(failure: OutcomeClass, *, retry_safe: bool = True, retry_after: float | None = None) -> ToolOutcome:
    return ToolOutcome(ok=False, output=(), failure=failure, retry_safe=retry_safe, retry_after=retry_after)


def test_waits_grow_and_end() -> None:
    waits = [delay(failed(OutcomeClass.RETRYABLE), attempt) for attempt in range(1, MAX_RETRIES + 1)]
    for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=True):
        assert wait is not None
        assert least <= wait <= least * 1.25
    assert delay(failed(OutcomeClass.RETRYABLE), MAX_RETRIES + 1) is None


@pytest.mark.parametrize("failure", [OutcomeClass.FATAL, OutcomeClass.DIAGNOSTIC, OutcomeClass.UNKNOWN])
def test_only_what_may_pass_is_tried_again(failure: OutcomeClass) -> None:
    assert delay(failed(failure), 1) is None


def test_what_must_not_happen_twice_is_not_tried_again() -> None:
    assert delay(failed(OutcomeClass.RETRYABLE, retry_safe=False), 1) is None
    assert delay(ToolOutcome.text("fine"), 1) is None


def test_the_other_sides_wish_is_waited_for_unless_it_is_too_long() -> None:
    wait = delay(failed(OutcomeClass.RETRYABLE, retry_after=7.0), 1)
    assert wait is not None
    assert 7.0 <= wait <= 8.75
    assert delay(failed(OutcomeClass.RETRYABLE, retry_after=31.0), 1) is None
