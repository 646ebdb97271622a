"""Removing a directory that commands have written to, whatever they have left there.

No link is followed, so nothing outside goes with it, and a directory without permissions is no obstacle.
"""

import contextlib
import os
import shutil
from pathlib import Path


def remove(tree: Path) -> None:
    """Remove the directory and all in it; nothing to do when it is not there."""
    if tree.is_symlink():
        return
    try:
        shutil.rmtree(tree)
    except FileNotFoundError:
        return
    except OSError:
        _unlock(tree)
        shutil.rmtree(tree, ignore_errors=True)


def _unlock(tree: Path) -> None:
    with contextlib.suppress(OSError):
        tree.chmod(0o700)
    for place, below, _ in os.walk(tree):
        for directory in (Path(place, name) for name in below):
            if not directory.is_symlink():
                with contextlib.suppress(OSError):
                    directory.chmod(0o700)
