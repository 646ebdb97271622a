"""File names as a model sees them: always one line, always text, whatever somebody called a file.

A name with a line break or a control character is quoted as JSON, so that it can forge no second line and can still
be given back as it is; bytes that are not UTF-8 are shown as replacement characters.
"""

import json
import os
from pathlib import Path

from aster.sandbox.paths import Workspace


def shown(workspace: Workspace, path: Path) -> str:
    """A path as a model should write it."""
    return plain(workspace.show(path))


def plain(name: str) -> str:
    text = os.fsencode(name).decode("utf-8", "replace")
    return text if text.isprintable() else json.dumps(text)
