"""How much disk all search indexes together may take: those not used for longest go first.

An index that goes is made again when somebody searches there; one that is in use stays.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

from aster.memory.passages.index import remove

MAX_INDEXES: Final = 200
MAX_BYTES: Final = 2_000_000_000


def make_room(path: Path, in_use: Collection[Path]) -> None:
    """Note that the index at `path` is used now; when it is a new one, remove others beyond the limits."""
    if path.exists():
        os.utime(path)
        return
    try:
        others = [(entry, entry.stat()) for entry in path.parent.glob("*.sqlite")]
    except FileNotFoundError:
        return
    others.sort(key=lambda other: other[1].st_mtime_ns, reverse=True)
    size = 0
    for number, (other, info) in enumerate(others, 1):
        size += info.st_size
        if (number >= MAX_INDEXES or size > MAX_BYTES) and other not in in_use:
            remove(other)
