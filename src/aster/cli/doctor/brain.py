"""The brain file: can it be written, is it of this version, and who has it open."""

import fcntl
import os
import sqlite3
from pathlib import Path

from aster.brain.beside import Place, is_database
from aster.brain.sql import queries
from aster.brain.sqlite.brain import MIGRATIONS
from aster.brain.sqlite.connection import looked_at
from aster.cli.doctor.report import Finding
from aster.infra.migrations import available


def examine(place: Place) -> list[Finding]:
    if is_database(place):
        from aster.cli.doctor import database

        return database.examine(place)
    path = Path(place)
    return [_place(path), _schema(path), _holder(path)] if path.is_file() else [_place(path)]


def _place(path: Path) -> Finding:
    existing = next(part for part in (path, *path.absolute().parents) if part.exists())
    usable = path.is_file() if existing == path else existing.is_dir()
    if not usable or not os.access(existing, os.W_OK):
        return Finding(
            check="brain",
            status="fail",
            found=f"{path} cannot be written",
            fix=f"Give this user write access to {existing}, or set SQLITE_DB_PATH to another file.",
        )
    size = f"{path.stat().st_size / 1e6:.1f} MB" if path.is_file() else "will be made at the first start"
    return Finding(check="brain", status="ok", found=f"{path}, {size}")


def _schema(path: Path) -> Finding:
    newest = available(MIGRATIONS)[-1].version
    try:
        db = looked_at(path)
        try:
            version = queries.ping(db)
        finally:
            db.close()
    except sqlite3.Error as error:
        return Finding(
            check="schema", status="fail", found=f"not a brain: {error}", fix="Set SQLITE_DB_PATH to another file."
        )
    if version > newest:
        return Finding(
            check="schema",
            status="fail",
            found=f"version {version}, this engine knows {newest}",
            fix="Start the newer engine that made it.",
        )
    behind = "" if version == newest else f", will be brought to {newest} at the next start"
    return Finding(check="schema", status="ok", found=f"version {version}{behind}")


def _holder(path: Path) -> Finding:
    lock = path.with_name(path.name + ".lock")
    if not lock.exists():
        return Finding(check="lock", status="ok", found="no engine has it open")
    with lock.open("rb") as file:
        holder = file.read(32).decode("utf-8", "replace").strip()
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Finding(check="lock", status="ok", found=f"an engine has it open (process {holder})")
    return Finding(check="lock", status="ok", found="no engine has it open")
