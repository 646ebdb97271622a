"""Objections that need no belief: a critic's word against an answer is dropped where the evidence itself disproves it.

A model that checks is wrong now and then, and a wrong objection would take back a right answer.
"""

from typing import Final

from aster.engine_core.verifying.critic import Objection, Opinion
from aster.engine_core.verifying.evidence import Case
from aster.engine_core.verifying.words import plain

LEAST_WORDS: Final = 3
TOGETHER: Final = 0.5
"""Share of a claim's longer words that have to stand on the line that has its numbers."""
MOST_READ: Final = 200_000


def upheld(opinion: Opinion, case: Case) -> Opinion:
    """The opinion without the objections that the evidence disproves; a refutation that loses all of them is none."""
    if opinion.verdict != "refute" or not opinion.objections:
        return opinion
    kept = tuple(one for one in opinion.objections if not disproved(one, case))
    verdict = opinion.verdict if kept else "uncertain"
    return Opinion(verdict, opinion.confidence, kept)


def disproved(objection: Objection, case: Case) -> bool:
    """What is objected to stands in the evidence word for word, or number for number beside the same words."""
    words = plain(objection.claim).split()
    if len(words) < LEAST_WORDS:
        return False
    numbers = {word for word in words if word.isdigit()}
    named = {word for word in words if len(word) > 3 and not word.isdigit()}
    together = f" {' '.join(words)} "
    for exhibit in case.exhibits:
        text = exhibit.text[:MOST_READ]
        if exhibit.run.error is None and together in plain(text):
            return True
        if numbers and named and any(_beside(line, numbers, named) for line in text.splitlines()):
            return True
    return False


def _beside(line: str, numbers: set[str], named: set[str]) -> bool:
    if not any(number in line for number in numbers):
        return False
    there = set(plain(line).split())
    return numbers <= there and len(named & there) >= TOGETHER * len(named)
