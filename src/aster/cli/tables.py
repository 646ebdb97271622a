"""Tables: as wide as the terminal, or as wide as they need to be in a pipe.

A cell shows text as it is; what looks like markup in a title is the title's own.
"""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aster.cli.screen.clean import one_line

_CELL = 80
_PIPE_WIDTH = 400


def console() -> Console:
    """Standard output; a pipe has no width of its own."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False, markup=False)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(one_line(cell, _CELL)) for cell in row))
    console().print(table)
