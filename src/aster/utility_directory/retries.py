"""When a failed call is simply run again: only a failure that may pass, and only a call that may be repeated."""

import random

from aster.contracts.tools import OutcomeClass, ToolOutcome

MAX_RETRIES = 3
_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 30.0


def delay(outcome: ToolOutcome, attempt: int) -> float | None:
    """Seconds to wait before attempt number `attempt + 1`; None if this outcome stands."""
    if outcome.ok or outcome.failure is not OutcomeClass.RETRYABLE or not outcome.retry_safe:
        return None
    if attempt > MAX_RETRIES or (outcome.retry_after or 0.0) > _LONGEST_SECONDS:
        return None
    seconds = max(min(_FIRST_SECONDS * 2 ** (attempt - 1), _LONGEST_SECONDS), outcome.retry_after or 0.0)
    return seconds * (1 + random.random() / 4)  # noqa: S311
