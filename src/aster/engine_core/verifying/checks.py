"""The checks that need no model: what they dispute is proven, and costs nothing but a pass over the answer."""

from typing import Final

from aster.engine_core.verifying import numbers, outcomes, quotes
from aster.engine_core.verifying.evidence import Case

MOST_ISSUES: Final = 3


def disputes(case: Case) -> tuple[str, ...]:
    """What is provably wrong with an answer, the gravest first."""
    found: list[str] = []
    for check in (outcomes.disputes, numbers.disputes, quotes.disputes):
        for issue in check(case):
            if issue not in found:
                found.append(issue)
            if len(found) == MOST_ISSUES:
                return tuple(found)
    return tuple(found)
