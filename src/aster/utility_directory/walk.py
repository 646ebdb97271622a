"""Walking a tree that anybody may have built: links are never followed, what cannot be opened is passed over, and a
budget of entries, depth and time ends every walk."""

import contextlib
import os
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aster.sandbox.paths import PathRefused, Workspace, open_beside

SKIPPED: Final = frozenset((".git", ".hg", ".svn"))
WORKTREES: Final = (".aster", "worktrees")
"""Other copies of the same files, which others work on."""
DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY
_MAX_ENTRIES = 200_000
_MAX_DEPTH = 100
_MAX_SECONDS = 10.0


class Enough(Exception):
    """The budget is spent; what was found so far is the answer."""


@dataclass(slots=True)
class Walk:
    """One walk through a workspace and what is left of its budget. `cut` tells that not everything was seen."""

    workspace: Workspace
    entries_left: int = _MAX_ENTRIES
    until: float = field(default_factory=lambda: time.monotonic() + _MAX_SECONDS)
    cut: bool = False
    _depth: int = 0

    def entries(self, fd: int) -> list[os.DirEntry[str]]:
        """What is in an open directory, by name."""
        out: list[os.DirEntry[str]] = []
        with os.scandir(fd) as entries:
            for entry in entries:
                self.entries_left -= 1
                if self.entries_left < 0 or (self.entries_left % 1024 == 0 and time.monotonic() > self.until):
                    self.cut = True
                    raise Enough
                out.append(entry)
        return sorted(out, key=lambda entry: entry.name)

    @contextlib.contextmanager
    def below(self, fd: int, path: Path) -> Generator[int | None]:
        """The directory `path`, which is in the open directory `fd`; None if it is not to be entered."""
        if path.name in SKIPPED or path.parts[-2:] == WORKTREES or self._hides(path):
            yield None
            return
        if self._depth >= _MAX_DEPTH:
            self.cut = True
            yield None
            return
        try:
            opened = open_beside(fd, path.name, DIRECTORY)
        except (OSError, PathRefused):
            yield None
            return
        self._depth += 1
        try:
            yield opened
        finally:
            self._depth -= 1
            os.close(opened)

    def visible(self, path: Path, entry: os.DirEntry[str]) -> bool:
        """Whether an entry may be named: a link only if it leads to a place that is visible too."""
        return self.workspace.contains(Path(os.path.realpath(path)) if entry.is_symlink() else path)

    def _hides(self, path: Path) -> bool:
        workspace = self.workspace
        return path in workspace.hidden and not any(root.is_relative_to(path) for root in workspace.roots)
