"""Which brain a deployment has: the database that DATABASE_URL names, or else a file. PostgreSQL's driver is loaded
only for the former."""

from aster.brain.protocol import Brain
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings


def brain_of(settings: Settings) -> Brain:
    if settings.database_url is None:
        return SqliteBrain(settings.sqlite_db_path)
    try:
        from aster.brain.postgres.brain import PostgresBrain
    except ImportError as error:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"DATABASE_URL is set, but {error.name} is not installed. Install `aster-engine[postgres]`.",
            {"DATABASE_URL": "needs the extra postgres"},
        ) from error
    return PostgresBrain(
        settings.database_url.get_secret_value(),
        readers=settings.database_readers,
        patience=settings.database_patience_seconds,
    )
