"""Skills as folders on the disk: `<root>/<directory>/SKILL.md`, with whatever files lie beside it.

A folder is read once, as a whole, within limits, and never through a link that leaves the root. One that is wrong is
passed over with a sentence about it; the others are skills all the same.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from aster.skills import manifest
from aster.skills.manifest import Wrong, skill_of
from aster.skills.skill import ALL_BYTES, FILE_BYTES, MOST_FILES, Skill, Source, file_problem

MOST_SKILLS: Final = 200


class Found(NamedTuple):
    """The skills of a root, and what is wrong with the others, by their directory."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


def read(root: Path, source: Source) -> Found:
    """The skills below a root; blocks."""
    root = Path(os.path.realpath(root))
    if not root.is_dir():
        return Found()
    skills: dict[str, Skill] = {}
    problems: list[tuple[str, str]] = []
    folders = sorted(path for path in root.iterdir() if not path.name.startswith((".", "_")) and path.is_dir())
    for folder in folders[:MOST_SKILLS]:
        try:
            skill = _skill(folder, root, source)
            if skill.name in skills:
                raise Wrong(f"there is another skill named {skill.name!r}")
            skills[skill.name] = skill
        except Wrong as wrong:
            problems.append((folder.name, str(wrong)))
    problems += [(folder.name, f"at most {MOST_SKILLS} skills are read") for folder in folders[MOST_SKILLS:]]
    return Found(tuple(skills.values()), tuple(problems))


def one(folder: Path) -> Skill:
    """The skill of one folder, as a user's own, or `Wrong`; blocks."""
    folder = Path(os.path.realpath(folder))
    return _skill(folder, folder, "custom")


def _skill(folder: Path, root: Path, source: Source) -> Skill:
    path = folder / manifest.NAME
    if not path.is_symlink() and not path.exists():
        raise Wrong(f"there is no {manifest.NAME} in it")
    data = _contents(path, root, manifest.MOST_BYTES)
    return skill_of(data, folder.name, source, dict(_files(folder, root)))


def _files(folder: Path, root: Path) -> Iterator[tuple[str, bytes]]:
    """What lies beside the manifest; links and what no skill can have are left out."""
    count = size = 0
    for place, below, names in os.walk(folder, followlinks=False):
        below[:] = sorted(name for name in below if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink() or file_problem(relative) is not None:
                continue
            data = _contents(path, root, FILE_BYTES)
            count, size = count + 1, size + len(data)
            if count > MOST_FILES or size > ALL_BYTES:
                raise Wrong(f"it has more than {MOST_FILES} files or {ALL_BYTES:,} bytes")
            yield relative, data


def _contents(path: Path, root: Path, most: int) -> bytes:
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise Wrong(f"{path.name} leads out of the directory of skills")
    try:
        opened = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Wrong(f"{path.name} cannot be read ({error.strerror})") from None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise Wrong(f"{path.name} is not a file")
        data = file.read(most + 1)
    if len(data) > most:
        raise Wrong(f"{path.name} is larger than {most:,} bytes")
    return data
