"""How far long work has come, on standard error: a bar on a terminal, a line now and then everywhere else.

Work that is done before the first line is due says nothing, so short work stays silent in scripts.
"""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from aster.cli.screen.clean import one_line

Tell: TypeAlias = Callable[[str, int, int], None]
"""What is being done, how much of it is, and how much there is."""

LINE_SECONDS = 2.0


@contextmanager
def progress(*, in_bytes: bool = False, quiet: bool = False, every: float = LINE_SECONDS) -> Generator[Tell]:
    """Tell it how far the work is; nothing is shown when `quiet`."""
    if quiet:
        yield lambda what, done, of: None
        return
    if not sys.stderr.isatty():
        yield Lines(sys.stderr, every, in_bytes=in_bytes).tell
        return
    amount = (DownloadColumn(), TimeRemainingColumn()) if in_bytes else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description:<34}", markup=False), BarColumn(), *amount)
    with Bars(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task("", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bars.update(task, description=one_line(what, 60), completed=done, total=of)

        yield tell


class Lines:
    """A line each `every` seconds, and one at the end of work that had any."""

    def __init__(self, out: TextIO, every: float, *, in_bytes: bool) -> None:
        self._out = out
        self._every = every
        self._in_bytes = in_bytes
        self._due = time.monotonic() + every
        self._told = False

    def tell(self, what: str, done: int, of: int) -> None:
        over = self._told and done >= of
        if time.monotonic() < self._due and not over:
            return
        self._due, self._told = time.monotonic() + self._every, not over
        share = f" ({100 * done // of} %)" if of else ""
        print(
            f"{one_line(what, 60)}: {self._amount(done)} of {self._amount(of)}{share}", file=self._out, flush=True
        )

    def _amount(self, count: int) -> str:
        return f"{count / 1e6:,.1f} MB" if self._in_bytes else f"{count:,}"
