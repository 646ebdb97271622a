"""The skills of a workspace: folders in `.aster/skills` and `skills` of its roots. Whoever owns the files wrote them.

They are read like any file of the workspace, with the tools' identity and without following links, and only where the
operator has allowed it. Their files stay where they are, so commands and file tools find them there.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aster.infra.secrets import Secrets
from aster.sandbox.paths import PathRefused, Workspace
from aster.skills import manifest
from aster.skills.manifest import Wrong, skill_of
from aster.skills.skill import Skill

PLACES: Final = (".aster/skills", "skills")
MOST_SKILLS: Final = 50


def read(workspace: Workspace, secrets: Secrets) -> tuple[Skill, ...]:
    """The skills that lie in a workspace, the first of a name alone; blocks, so it is called in a file thread."""
    found: dict[str, Skill] = {}
    for folder in _folders(workspace):
        if len(found) == MOST_SKILLS:
            break
        skill = _skill(workspace, folder, secrets)
        if skill is not None:
            found.setdefault(skill.name, skill)
    return tuple(found.values())


def _folders(workspace: Workspace) -> Iterator[Path]:
    for root in workspace.roots:
        for place in PLACES:
            try:
                names = _names(workspace, root / place)
            except (OSError, PathRefused):
                continue
            yield from (root / place / name for name in names if name.isprintable() and name[0] != ".")


def _names(workspace: Workspace, place: Path) -> list[str]:
    with workspace.directory(place) as directory:
        opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        return sorted(os.listdir(opened))  # noqa: PTH208 - an open directory has no path
    finally:
        os.close(opened)


def _skill(workspace: Workspace, folder: Path, secrets: Secrets) -> Skill | None:
    path = folder / manifest.NAME
    if not workspace.contains(path):
        return None
    try:
        opened = workspace.open(path, os.O_RDONLY)
    except (OSError, PathRefused):
        return None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        data = file.read(manifest.MOST_BYTES)
    text = secrets.clean(data.decode("utf-8", "replace"), "tool", shapes=True)
    try:
        return skill_of(_visible(text).encode(), folder.name, "workspace", {}, place=workspace.show(folder))
    except Wrong:
        return None


def _visible(text: str) -> str:
    """The text with everything in it that cannot be seen shown as an escape."""
    if text.isascii():
        return text
    return "".join(c if c.isprintable() or c in "\r\n\t" else f"\\u{ord(c):04x}" for c in text)
