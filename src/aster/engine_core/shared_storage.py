"""Whether replicas see the same files: workspaces, uploads and what tools wrote lie in a directory, not in the brain.

The first replica leaves a word there that the brain knows too. One that does not find it works on files of its own,
which is told to the operator, because tasks would lose sight of their files when they change replicas.
"""

import asyncio
from pathlib import Path
from typing import Final

from aster.brain.marks import MarkRow
from aster.brain.protocol import Brain
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.infra.settings import Settings

NAME: Final = "storage.id"


async def complaint(brain: Brain, settings: Settings) -> str | None:
    """What is wrong with where this replica keeps files, if anything is."""
    if not brain.shared or settings.roots:
        return None
    offered = new_id("storage")
    agreed = await brain.settle_mark(MarkRow(name="storage", value=offered, updated_at=now_ms()))
    path = settings.data_dir / NAME
    if await asyncio.to_thread(_found, path, agreed, new=agreed == offered):
        return None
    return (
        f"{path.parent} is not the directory that the other replicas keep files in, so tasks that change replicas lose"
        f" sight of theirs. Mount the same directory everywhere; if this is it after all, write {agreed} into {path}."
    )


def _found(path: Path, agreed: str, *, new: bool) -> bool:
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(agreed, encoding="utf-8")
        return True
    try:
        return path.read_text(encoding="utf-8").strip() == agreed
    except OSError:
        return False
