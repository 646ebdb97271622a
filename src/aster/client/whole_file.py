"""A file of this machine that is there whole or not at all, whatever ends the writing of it.

It is written beside its place, under a name that nobody has, and takes that place at the end. What is no file (a pipe,
`/dev/stdout`) is never replaced by one.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

_USUAL, _PRIVATE = 0o666, 0o600


@contextmanager
def whole_file(to: Path, *, private: bool = False) -> Generator[BinaryIO]:
    """What to write to; a `private` file is for its owner's eyes alone."""
    if to.exists() and not to.is_file():
        with to.open("wb") as file:
            yield file
        return
    place = to.resolve()
    part = place.with_name(f".{token_hex(8)}.part")
    mode = _PRIVATE if private else _USUAL
    try:
        with open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
