"""The AGENTS.md files of the operator's roots, which every turn begins with: read again when one has changed.

Whether one has is a look at its directory entry, which costs microseconds; a file is read in a file thread. The text
is the same while the file is, so a prompt's beginning stays the same byte for byte.
"""

import os
from pathlib import Path
from typing import TypeAlias

from aster.engine_core.context import agents_file
from aster.engine_core.context.layers import Layer, workspace_layer
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.workspaces import Workspaces

_Entry: TypeAlias = tuple[int, int, int, int] | None


class RootNotes:
    def __init__(self, settings: Settings, workspaces: Workspaces, sandbox: Sandbox, secrets: Secrets) -> None:
        self._files = tuple(root / agents_file.NAME for root in settings.roots)
        self._on = bool(self._files) and settings.workspace_instructions
        self._workspaces = workspaces
        self._sandbox = sandbox
        self._secrets = secrets
        self._seen: tuple[_Entry, ...] = ()
        self._layers: tuple[Layer, ...] = ()

    async def layers(self, user_id: str, task_id: str) -> tuple[Layer, ...]:
        """What the owners of the roots want to be known, as it is now."""
        if not self._on:
            return ()
        entries = tuple(map(_entry, self._files))
        if entries != self._seen:
            workspace = await self._workspaces.of(user_id, task_id)
            notes = await self._sandbox.files.call(agents_file.read, workspace, workspace.roots, self._secrets)
            self._seen, self._layers = entries, tuple(map(workspace_layer, notes))
        return self._layers


def _entry(path: Path) -> _Entry:
    """What changes when a file does; None when there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns
