"""AGENTS.md: what the owner of a directory wants whoever works there to know.

It is read like any file of the workspace, with the tools' identity and without following links; one that is too long
is cut, one that is no plain file is not there. The text is the same while the file is.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from aster.engine_core.context.layers import Note
from aster.infra.secrets import Secrets
from aster.sandbox.paths import PathRefused, Workspace

NAME: Final = "AGENTS.md"
MOST_BYTES: Final = 32_768


def read(workspace: Workspace, directories: Iterable[Path], secrets: Secrets) -> list[Note]:
    """What the AGENTS.md of these directories say, in this order; blocks, so it is called in a file thread."""
    return [note for directory in directories if (note := _note(workspace, directory, secrets)) is not None]


def between(workspace: Workspace, path: Path) -> Iterator[Path]:
    """The directories from the root around a path down to it, the outermost first."""
    root = max((root for root in workspace.roots if path.is_relative_to(root)), key=lambda it: len(it.parts))
    around = [path, *path.parents]
    return reversed(around[: around.index(root) + 1])


def _note(workspace: Workspace, directory: Path, secrets: Secrets) -> Note | None:
    path = directory / NAME
    if not workspace.contains(path):
        return None
    try:
        descriptor = workspace.open(path, os.O_RDONLY)
    except (OSError, PathRefused):
        return None
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor)
        if not stat.S_ISREG(size.st_mode):
            return None
        data = file.read(MOST_BYTES)
    text = secrets.clean(data.decode("utf-8", "replace"), "tool", shapes=True).strip()
    if size.st_size > MOST_BYTES:
        text += f"\n[cut here: the file has {size.st_size} bytes, of which {MOST_BYTES} are shown]"
    return Note(str(path), text) if text else None
