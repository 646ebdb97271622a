"""How good rankings are: recall at 5, 10 and 20, mean reciprocal rank, and nDCG at 10, each the mean over questions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.memory.corpus import Question

DEPTHS = (5, 10, 20)
HEADINGS = ("R@5", "R@10", "R@20", "MRR", "nDCG")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with the labels that were found for it, the best first."""

    question: Question
    found: tuple[str, ...]


def scored(outcome: Outcome) -> tuple[float, ...]:
    """The measures of one question, in the order of the headings. Evidence that is on no shelf counts as missed."""
    wanted = outcome.question.evidence
    places = sorted(outcome.found.index(label) if label in outcome.found else math.inf for label in wanted)
    recalls = [sum(place < depth for place in places) / len(places) for depth in DEPTHS]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(places))))
    gain = sum(1 / math.log2(place + 2) for place in places if place < 10)
    return (*recalls, 1 / (places[0] + 1), gain / ideal)


def means(outcomes: Sequence[Outcome]) -> tuple[float, ...]:
    rows = [scored(outcome) for outcome in outcomes if outcome.question.evidence]
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True)) if rows else (0.0,) * len(HEADINGS)


def table(methods: Mapping[str, Sequence[Outcome]]) -> str:
    """Every method over all questions, the categories of the first one, and recall@10 of all by category."""
    lines = [f"{'':24}{'n':>6}" + "".join(f"{heading:>8}" for heading in HEADINGS)]
    lines += [_line(name, outcomes) for name, outcomes in methods.items()]
    first, outcomes = next(iter(methods.items()))
    categories = sorted({outcome.question.category for outcome in outcomes})
    if len(categories) > 1:
        lines.append(f"{first}, by category")
        lines += [_line(f"  {name}", _of(outcomes, name)) for name in categories]
        lines.append(f"{'R@10 by category':24}" + "".join(f"{category[:12]:>13}" for category in categories))
        lines += [
            f"  {name:22}" + "".join(f"{means(_of(found, category))[1]:13.3f}" for category in categories)
            for name, found in methods.items()
        ]
    return "\n".join(lines)


def below(ours: Sequence[Outcome], others: Sequence[Outcome]) -> list[str]:
    """The categories in which the others find more among the first ten."""
    categories = sorted({outcome.question.category for outcome in ours})

    return [name for name in categories if means(_of(ours, name))[1] < means(_of(others, name))[1]]


def _of(outcomes: Sequence[Outcome], category: str) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.question.category == category]


def _line(name: str, outcomes: Sequence[Outcome]) -> str:
    return f"{name:24}{len(outcomes):6}" + "".join(f"{value:8.3f}" for value in means(outcomes))
