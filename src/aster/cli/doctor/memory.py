"""Memory: who makes its vectors, and how many records of the brain still wait for theirs."""

import sqlite3
from pathlib import Path

from aster.brain.sql.memory.vectors import state
from aster.brain.sqlite.connection import looked_at
from aster.cli.doctor.report import Finding
from aster.contracts.errors import EngineError
from aster.infra.settings import Settings
from aster.memory.embeddings.choice import embedder


def examine(settings: Settings) -> Finding:
    if not settings.memory_enabled:
        return Finding(check="memory", status="ok", found="MEMORY_ENABLED is off: nothing is remembered")
    try:
        chosen = embedder(settings)
    except EngineError as error:
        return Finding(check="memory", status="fail", found="its endpoint is not set right", fix=error.message)
    waiting = _waiting(settings.sqlite_db_path)
    if isinstance(chosen, str):
        if settings.embeddings_provider == "off":
            return Finding(check="memory", status="ok", found=f"found by words alone: {chosen}{waiting}")
        fix = "Install what is missing, or set EMBEDDINGS_PROVIDER=off."
        return Finding(check="memory", status="warn", found=f"found by words alone: {chosen}{waiting}", fix=fix)
    return Finding(check="memory", status="ok", found=f"vectors by {chosen.fingerprint}{waiting}")


def _waiting(brain: Path) -> str:
    """How many records of a brain have no vector yet; nothing of one that is not there, or older than memory."""
    if not brain.is_file():
        return ""
    db = looked_at(brain)
    try:
        pending = state(db).pending
    except sqlite3.Error:
        return ""
    finally:
        db.close()
    return f"; {pending:,} records wait for theirs" if pending else "; every record has its own"
