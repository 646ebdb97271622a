"""Where a brain is, as a person says it: the path of a file, or the URL of a database."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from aster.brain.beside import is_database
from aster.brain.moving.end import End
from aster.brain.moving.sqlite_end import sqlite_end
from aster.contracts.errors import EngineError, ErrorCode


@contextmanager
def opened_source(place: str, *, live: bool = False) -> Generator[End]:
    """A brain to read from; `live`: while engines work on the database."""
    if is_database(place):
        from aster.brain.moving.postgres_end import postgres_end

        with postgres_end(place, source=True, live=live) as end:
            yield end
        return
    if not Path(place).is_file():
        raise EngineError(ErrorCode.NOT_FOUND, f"There is no brain at {place}.")
    with sqlite_end(Path(place)) as end:
        yield end


@contextmanager
def opened_target(place: str, *, replace: bool = False) -> Generator[End]:
    """A brain to write to, made if there is none; with `replace`, what a database holds goes."""
    if is_database(place):
        from aster.brain.moving.postgres_end import postgres_end

        with postgres_end(place, replace=replace) as end:
            yield end
        return
    with sqlite_end(Path(place)) as end:
        yield end
