"""A figure: one measure of Aster and of what stands beside it, and the table of all of them.

Figures of several rounds are put together by their medians; the rounds themselves are kept.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import median

import msgspec


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """`beside` is the proxy's value unless the name says otherwise; None where there is nothing to compare with."""

    benchmark: str
    name: str
    unit: str
    aster: float
    beside: float | None = None

    @property
    def difference(self) -> float | None:
        return None if self.beside is None else self.aster - self.beside

    @property
    def ratio(self) -> float | None:
        return self.aster / self.beside if self.beside else None


class Summary(msgspec.Struct, frozen=True):
    """A figure over all rounds."""

    median: Figure
    rounds: list[Figure]


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def summarise(rounds: Sequence[Sequence[Figure]]) -> list[Summary]:
    """One summary for each measure, in the order they first came."""
    grouped: dict[tuple[str, str], list[Figure]] = {}
    for figures in rounds:
        for figure in figures:
            grouped.setdefault((figure.benchmark, figure.name), []).append(figure)
    return [Summary(_median(figures), figures) for figures in grouped.values()]


def _median(figures: list[Figure]) -> Figure:
    beside = [figure.beside for figure in figures if figure.beside is not None]
    return msgspec.structs.replace(
        figures[0],
        aster=median(figure.aster for figure in figures),
        beside=median(beside) if beside else None,
    )


HEADINGS = ("benchmark", "measure", "unit", "Aster", "proxy", "difference", "ratio")


def table(figures: Iterable[Figure]) -> str:
    """A markdown table that is also easy to read as it is."""
    lines = [HEADINGS, *map(_cells, figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rows = [_line(line, widths) for line in lines]
    marks = [("-" * width if column < 3 else "-" * (width - 1) + ":") for column, width in enumerate(widths)]
    return "\n".join([rows[0], _line(marks, widths), *rows[1:]])


def _cells(figure: Figure) -> tuple[str, ...]:
    numbers = (
        number(figure.aster),
        number(figure.beside),
        number(figure.difference, sign=True),
        number(figure.ratio),
    )
    return (figure.benchmark, figure.name, figure.unit, *numbers)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if column < 3 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def number(value: float | None, *, sign: bool = False) -> str:
    """Three figures that count, at least: 12345 -> 12,345; 12.34 -> 12.3; 0.123."""
    if value is None:
        return "–"
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:{'+' if sign else ''},.{digits}f}"
