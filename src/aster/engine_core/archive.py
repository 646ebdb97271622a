"""A workspace as a zip archive, and back: `sandbox/…` are its files, `session.json` is what a client keeps with them.

An archive from outside is checked as a whole before anything of it is written: names that leave the workspace, links,
entries that say one size and have another, and more than there is room for are refused. Everything here blocks and
runs in the sandbox's file threads.
"""

import os
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode
from aster.sandbox.paths import PathRefused, Workspace
from aster.utility_directory.text_files import NotAFile, open_file, store

FILES: Final = "sandbox/"
SESSION: Final = "session.json"
MOST_FILES: Final = 10_000
MOST_SESSION_BYTES: Final = 20_000_000
_PIECE: Final = 1 << 20
_LONGEST_NAME: Final = 1_000
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED: Final = 0x1
_UNREADABLE: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError),
    msgspec.DecodeError,
)
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_LARGE: Final = b"PK\x06\x07"
_LARGE_BYTES: Final = 20
_MOST_LISTED: Final = 4_000_000
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

Allowed: TypeAlias = Callable[[str], bool]
"""Whether a file of the workspace, named as tools name it, may be touched."""


class Entry(NamedTuple):
    """A file in an archive that may be written: its place in the workspace."""

    info: zipfile.ZipInfo
    path: Path


def pack(
    workspace: Workspace, into: BinaryIO, session: dict[str, object], most_bytes: int, allowed: Allowed
) -> None:
    """Write a workspace as an archive. Links, special files and what may not be read are left out, and named."""
    left_out: list[str] = []
    total = count = 0
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path in _walk(workspace):
            name = path.relative_to(workspace.cwd).as_posix()
            if not _fit(name) or not allowed(name):
                left_out.append(name.encode("utf-8", "replace").decode())
                continue
            try:
                fd = open_file(workspace, path)
            except (OSError, PathRefused, NotAFile):
                left_out.append(name)
                continue
            with os.fdopen(fd, "rb") as file:
                info = os.fstat(fd)
                total, count = total + info.st_size, count + 1
                if total > most_bytes or count > MOST_FILES:
                    raise _too_much(most_bytes)
                _add(archive, name, file, info)
        archive.writestr(SESSION, encode({**session, "left_out": left_out[:MOST_FILES]}))


def _walk(workspace: Workspace) -> Iterator[Path]:
    """Every name in the workspace that is not a directory, in order; no link is followed."""
    for place, directories, names in os.walk(workspace.cwd):
        here = Path(place)
        linked = [name for name in directories if (here / name).is_symlink()]
        directories[:] = sorted(
            name for name in directories if name not in linked and workspace.contains(here / name)
        )
        yield from (here / name for name in sorted((*names, *linked)))


def _add(archive: zipfile.ZipFile, name: str, file: BinaryIO, info: os.stat_result) -> None:
    entry = zipfile.ZipInfo(FILES + name, max(time.gmtime(info.st_mtime)[:6], _EARLIEST))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | (0o755 if info.st_mode & 0o100 else 0o644)) << 16
    with archive.open(entry, "w") as out:
        left = info.st_size
        while left and (piece := file.read(min(_PIECE, left))):
            out.write(piece)
            left -= len(piece)


def unpack(
    workspace: Workspace, archive_file: BinaryIO, most_bytes: int, owner: int, key: str, allowed: Allowed
) -> tuple[dict[str, Any], int]:
    """Write the files of an archive into a workspace; what it holds of a session, and how many files there were."""
    _check_directory(archive_file, most_bytes)
    try:
        with zipfile.ZipFile(archive_file) as archive:
            entries, session = _checked(workspace, archive, most_bytes, allowed)
            kept = decode(session or b"{}", dict[str, Any])
            for entry in entries:
                data = archive.read(entry.info)
                store(workspace, entry.path, data, key, owner)
                if entry.info.external_attr >> 16 & 0o100:
                    _executable(workspace, entry.path, owner)
            return kept, len(entries)
    except _UNREADABLE as error:
        raise unfit(f"is not an archive that can be read: {error}") from error
    except (NotAFile, PathRefused, OSError) as error:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE, f"Not all of the archive could be written: {error}. Send it again."
        ) from error


def _check_directory(file: BinaryIO, most_bytes: int) -> None:
    """Look at how long an archive's list of files is, before all of it is read into memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - (1 << 16) - _LARGE_BYTES))
    tail = file.read()
    file.seek(0)
    plain = tail[-_END_BYTES:].startswith(_END) and tail.endswith(b"\0\0")
    at = len(tail) - _END_BYTES if plain else tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        raise unfit("is not an archive that can be read: it has no end")
    listed = int.from_bytes(tail[at + 12 : at + 16], "little")
    if listed > _MOST_LISTED or tail[max(at - _LARGE_BYTES, 0) : at].startswith(_LARGE):
        raise unfit("has a list of files that is too long")
    if int.from_bytes(tail[at + 10 : at + 12], "little") > MOST_FILES:
        raise _too_much(most_bytes)


def _checked(
    workspace: Workspace, archive: zipfile.ZipFile, most_bytes: int, allowed: Allowed
) -> tuple[list[Entry], bytes]:
    """What an archive holds, if all of it is as it should be; every byte is read once for that."""
    infos = archive.infolist()
    if len(infos) > MOST_FILES or sum(info.file_size for info in infos) > most_bytes:
        raise _too_much(most_bytes)
    entries: list[Entry] = []
    session, seen = b"", set[str]()
    for info in infos:
        _check(info, seen)
        if info.filename == SESSION:
            if info.file_size > MOST_SESSION_BYTES:
                raise _too_much(MOST_SESSION_BYTES)
            session = archive.read(info)
        elif not info.is_dir():
            name = info.filename.removeprefix(FILES)
            place = _place(workspace, name)
            if not allowed(name):
                raise EngineError(
                    ErrorCode.PERMISSION_DENIED, f"The operator's rules do not let {name!r} be written."
                )
            entries.append(Entry(info, place))
    files = {entry.path for entry in entries}
    if len(files) < len(entries) or any(not files.isdisjoint(path.parents) for path in files):
        raise unfit("has a file in the place of another, or of a directory")
    for entry in entries:
        with archive.open(entry.info) as file:
            while file.read(_PIECE):
                pass
    return entries, session


def _check(info: zipfile.ZipInfo, seen: set[str]) -> None:
    name = info.filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
        raise unfit(f"has {name[:200]!r} in a form that is not read here")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise unfit(f"has {name[:200]!r}, which is a link or a special file")
    if name != SESSION and name != FILES and not (name.startswith(FILES) and _fit(name.removeprefix(FILES))):
        raise unfit(f"has {name[:200]!r}; it may hold `{SESSION}` and names below `{FILES}` alone")
    if name in seen:
        raise unfit(f"has {name[:200]!r} twice")
    seen.add(name)


def _fit(name: str) -> bool:
    """Whether a name stays below where it is put, on any system."""
    if not name.isprintable() or len(name) > _LONGEST_NAME or "\\" in name or name.startswith("/"):
        return False
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and "//" not in name and ":" not in parts[0]


def _place(workspace: Workspace, name: str) -> Path:
    try:
        path = workspace.resolve(name)
    except PathRefused as error:
        raise unfit(f"has {name[:200]!r}: {error}") from error
    if not workspace.strictly_inside(path) or path.is_dir():
        raise unfit(f"has {name[:200]!r}, which is no place for a file")
    return path


def _executable(workspace: Workspace, path: Path, owner: int) -> None:
    fd = open_file(workspace, path)
    try:
        info = os.fstat(fd)
        if info.st_uid == owner:
            os.fchmod(fd, stat.S_IMODE(info.st_mode) | 0o111)
    finally:
        os.close(fd)


def unfit(problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Nothing was written: the archive {problem}.",
        {"fields": [{"field": "file", "problem": problem}]},
    )


def _too_much(most_bytes: int) -> EngineError:
    return EngineError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"That is more than {most_bytes:,} bytes or {MOST_FILES:,} files. Take less, or raise WORKSPACE_MAX_BYTES.",
    )
