"""A directory for what this process can make again: nobody else's, never on a network volume, gone when it ends."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def scratch() -> Path:
    """Made when it is first asked for."""
    place = Path(tempfile.mkdtemp(prefix="aster-scratch-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place
