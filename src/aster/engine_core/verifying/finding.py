"""A finding: what a check came to, whoever made it."""

from typing import Final, Literal, NamedTuple

from aster.contracts.events.judgement import Verdict
from aster.engine_core.verifying import critic
from aster.engine_core.verifying.critic import Opinion

SURE: Final = 0.7
"""Confidence from which on a refutation has consequences."""
PROVEN: Final = 0.95
PROOF_CHARS: Final = 400


class Finding(NamedTuple):
    verdict: Verdict
    confidence: float
    issues: tuple[str, ...]
    source: Literal["checks", "model"]

    @property
    def refuted(self) -> bool:
        return self.verdict == "refute" and self.confidence >= SURE


def proven(issues: tuple[str, ...]) -> Finding:
    """What the checks dispute."""
    return Finding("refute", PROVEN, tuple(critic.one_line(issue, PROOF_CHARS) for issue in issues), "checks")


def believed(opinion: Opinion) -> Finding:
    """What a critic thinks."""
    issues = tuple(
        f"“{critic.one_line(one.claim)[:80]}”: {one.problem}" if one.claim else one.problem
        for one in opinion.objections
    )
    if opinion.verdict == "refute" and not issues:
        issues = (critic.UNNAMED,)
    return Finding(opinion.verdict, opinion.confidence, issues, "model")
