"""What the commands that carry brains have in common: a bar for the person who waits, and which brain is meant."""

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from aster.brain.beside import place_of
from aster.brain.moving.move import Progress
from aster.cli.options import settings_of


@contextmanager
def bar() -> Generator[Progress]:
    """A bar on the terminal; nothing where there is none."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bars:
        task = bars.add_task("", total=None)
        yield lambda what, done, of: bars.update(task, description=what, completed=done, total=of)


def brain_of(args: argparse.Namespace) -> str:
    """The place of the brain that is meant: that of the options, or of the settings."""
    settings = settings_of(args)
    return str(settings.sqlite_db_path if getattr(args, "db", None) else place_of(settings))
