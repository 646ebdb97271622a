"""The brain in PostgreSQL: can it be reached, is it of this version, may its users be kept apart, who works on it."""

from aster.brain.beside import reading
from aster.brain.postgres.brain import MIGRATIONS
from aster.brain.postgres.place import engines, shown
from aster.brain.sql import queries
from aster.brain.sql.connection import Connection
from aster.cli.doctor.report import Finding
from aster.contracts.errors import EngineError
from aster.infra.migrations import available


def examine(url: str) -> list[Finding]:
    newest = available(MIGRATIONS)[-1].version
    try:
        with reading(url) as db:
            if db is None:
                return [
                    Finding(check="brain", status="ok", found=f"{shown(url)}, will be filled at the first start")
                ]
            return [_server(db, url), _schema(queries.ping(db), newest), _apart(db), _engines(db)]
    except EngineError as error:
        return [Finding(check="brain", status="fail", found=shown(url), fix=error.message)]


def _server(db: Connection, url: str) -> Finding:
    version, size = db.execute(
        "SELECT current_setting('server_version'), pg_database_size(current_database())"
    ).fetchone()
    return Finding(check="brain", status="ok", found=f"{shown(url)}, PostgreSQL {version}, {size / 1e6:.1f} MB")


def _schema(version: int, newest: int) -> Finding:
    if version > newest:
        return Finding(
            check="schema",
            status="fail",
            found=f"version {version}, this engine knows {newest}",
            fix="Start the newer engine that made it.",
        )
    behind = "" if version == newest else f", will be brought to {newest} at the next start"
    return Finding(check="schema", status="ok", found=f"version {version}{behind}")


def _apart(db: Connection) -> Finding:
    bound = db.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()[0]
    if bound:
        return Finding(
            check="isolation",
            status="warn",
            found="the role of DATABASE_URL is not bound by row-level security",
            fix="Use a role that is no superuser and has no BYPASSRLS, so that the database too keeps users apart.",
        )
    return Finding(check="isolation", status="ok", found="the database keeps the rows of users apart")


def _engines(db: Connection) -> Finding:
    count = engines(db)
    found = f"engines are connected ({count} connections)" if count else "no engine is connected"
    return Finding(check="engines", status="ok", found=found)
