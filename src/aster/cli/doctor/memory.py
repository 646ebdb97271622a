"""Memory: who makes its vectors, and how many records of the brain still wait for theirs."""

from aster.brain.beside import Place, place_of, reading
from aster.brain.sql.memory.vectors import state
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
    waiting = _waiting(place_of(settings))
    if isinstance(chosen, str):
        if settings.embeddings_provider == "off":
            return Finding(check="memory", status="ok", found=f"found by words alone: {chosen}{waiting}")
        fix = "Install what is missing, or set EMBEDDINGS_PROVIDER=off."
        return Finding(check="memory", status="warn", found=f"found by words alone: {chosen}{waiting}", fix=fix)
    return Finding(check="memory", status="ok", found=f"vectors by {chosen.fingerprint}{waiting}")


def _waiting(brain: Place) -> str:
    """How many records of a brain have no vector yet; nothing of one that is not there, or cannot be used."""
    try:
        with reading(brain) as db:
            if db is None:
                return ""
            pending = state(db).pending
    except EngineError:
        return ""
    return f"; {pending:,} records wait for theirs" if pending else "; every record has its own"
