"""Copies of skills' files where commands in a sandbox can read them and nobody can change them.

Each user has a directory of its own, and each version of a skill one below that, named by a hash of what is in it. A
copy is used only while it is exactly what we would write, so that nothing put there by others is ever run.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

_DIGITS = 16
_MOST_USERS = 10_000
_OF = ".of"
"""Says whose copies these are: where that engine's data is."""


class Copies:
    """The copies of one engine below `parent`, by default where the system has temporary files; `data` is the directory
    of its brain, which tells it from other engines."""

    def __init__(self, data: Path, parent: Path | None = None) -> None:
        self._data = os.path.realpath(data).encode("utf-8", "surrogateescape")
        self._base = (parent or Path(tempfile.gettempdir())).resolve() / f"{_ours_begin()}{_hashed(self._data)}"
        self._known: dict[str, str] = {}

    def readable(self, user_id: str) -> tuple[Path, ...]:
        """What commands of this user may look into: nothing before the first copy."""
        place = self._known.get(user_id)
        if place is None:
            if len(self._known) >= _MOST_USERS:
                self._known.clear()
            found = self._of(user_id)
            place = self._known[user_id] = str(found) if found.is_dir() else ""
        return (Path(place),) if place and os.path.isdir(place) and _ours(self._base) else ()  # noqa: PTH112 - per call

    def place(self, user_id: str, name: str, files: Mapping[str, bytes]) -> Path:
        """Where these files lie, for this user's commands to read; blocks."""
        digest = hashlib.sha256()
        for file, data in sorted(files.items()):
            digest.update(f"{file}\0{len(data)}\0".encode() + data)
        target = self._of(user_id) / f"{name}-{digest.hexdigest()[:_DIGITS]}"
        self._prepare(user_id)
        self._known.pop(user_id, None)
        if not _is(target, files):
            shutil.rmtree(target, ignore_errors=True)
            _write(target, files)
        return target

    def drop(self, user_id: str, name: str) -> None:
        """The skill is gone, and so are its copies; blocks."""
        for place in self._of(user_id).glob(f"{name}-{'[0-9a-f]' * _DIGITS}"):
            shutil.rmtree(place, ignore_errors=True)

    def _of(self, user_id: str) -> Path:
        return self._base / _hashed(user_id.encode("utf-8", "surrogatepass"))

    def _prepare(self, user_id: str) -> None:
        if self._base.is_symlink() or (self._base.exists() and not _ours(self._base)):
            raise PermissionError(f"{self._base} is not this engine's own directory; remove it")
        if not self._base.exists():
            _sweep(self._base.parent)
        for place in (self._base, self._of(user_id)):
            place.mkdir(exist_ok=True)
            place.chmod(_mode())
        (self._base / _OF).write_bytes(self._data)


def _ours_begin() -> str:
    return f"aster-skills-{os.geteuid()}-"


def _sweep(parent: Path) -> None:
    """Remove the copies of engines whose brain is gone."""
    for base in parent.glob(f"{_ours_begin()}{'[0-9a-f]' * _DIGITS}"):
        try:
            gone = _ours(base) and not os.path.isdir((base / _OF).read_bytes())  # noqa: PTH112 - a name as bytes
        except OSError:
            continue
        if gone:
            shutil.rmtree(base, ignore_errors=True)


def _mode() -> int:
    """Commands of an engine run by root have another identity, which has to be let in."""
    return 0o755 if os.geteuid() == 0 else 0o700


def _hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _ours(place: Path) -> bool:
    info = place.lstat()
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022


def _is(target: Path, files: Mapping[str, bytes]) -> bool:
    try:
        found = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
        return found == set(files) and all((target / name).read_bytes() == data for name, data in files.items())
    except OSError:
        return False


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    for name, data in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for place, _, names in os.walk(made):
        Path(place).chmod(_mode())
        for name in names:
            Path(place, name).chmod(_mode())
    try:
        made.rename(target)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not _is(target, files):
            raise
