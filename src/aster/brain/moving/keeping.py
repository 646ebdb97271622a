"""Backups of either brain: made while engines run, brought back while none does.

A brain file is copied. A database is dumped by PostgreSQL's own programs, or, where they are not at hand, carried into
a brain file, which any brain can be restored from.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from aster.brain.beside import is_database
from aster.brain.moving import file_copy
from aster.brain.moving.move import Check, Progress, move, refuse_full
from aster.brain.moving.places import opened_source, opened_target
from aster.contracts.errors import EngineError, ErrorCode

Way: TypeAlias = Literal["copy", "dump", "portable"]
_HEAD = 16


def backup(place: str, to: Path, check: Check, progress: Progress, *, portable: bool = False) -> Way:
    """Keep the brain at a place in a new file; how that was done."""
    if not is_database(place):
        file_copy.keep(Path(place), to)
        return "copy"
    if not portable and _dumped(place, to):
        return "dump"
    with file_copy.aside(to) as draft:
        with opened_source(place, live=True) as source, opened_target(str(draft)) as target:
            move(source, target, check, progress)
        draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)
        file_copy.single(draft)
    return "portable"


def restore(copy: Path, place: str, check: Check, progress: Progress, *, replace: bool) -> Path | None:
    """Make a backup the brain at a place, which no engine has open; where the brain that was there has been put."""
    head = _head(copy)
    database = is_database(place)
    if head.startswith(file_copy.HEADER):
        if not database:
            return file_copy.bring_back(copy, Path(place), replace=replace)
        with TemporaryDirectory(prefix="aster-restore-") as directory:
            own = Path(directory) / "brain.sqlite"  # a backup is never opened itself: that would change it
            file_copy.keep(copy, own)
            with opened_source(str(own)) as source, opened_target(place, replace=replace) as target:
                move(source, target, check, progress)
        return None
    if not database:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"{copy} is not a brain file. A dump of PostgreSQL is restored with DATABASE_URL set.",
        )
    _undump(copy, head, place, replace=replace)
    return None


def _dumped(url: str, to: Path) -> bool:
    from aster.brain.moving import dump
    from aster.brain.moving.postgres_end import postgres_end

    with postgres_end(url, source=True, live=True) as end:
        if not dump.programs_fit(end.db):
            return False
        with file_copy.aside(to) as draft:
            dump.keep(url, end.every_table(), draft)
    return True


def _undump(copy: Path, head: bytes, url: str, *, replace: bool) -> None:
    from aster.brain.moving import dump
    from aster.brain.moving.postgres_end import postgres_end

    if not head.startswith(dump.HEADER):
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{copy} is neither a brain file nor a dump of PostgreSQL.")
    with postgres_end(url) as end:
        if not replace:
            refuse_full(end)
    dump.bring_back(url, copy)
    with postgres_end(url) as end, end.transaction():
        pass  # of this version, with nothing in the queue of what was there before


def _head(copy: Path) -> bytes:
    try:
        with copy.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise EngineError(ErrorCode.NOT_FOUND, f"{copy} cannot be read: {error}.") from error
