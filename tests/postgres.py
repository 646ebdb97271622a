"""A real PostgreSQL for tests: one server for each test process, started when the first test asks, gone with it.

Every test gets a database of its own, copied from one that is migrated already, and works as a role that is no
superuser, so that rows are kept apart as they are in production. A fault is caused by stopping the server or cutting
its connections.
"""

import atexit
import shutil
import signal
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from aster.brain.postgres.brain import open_database
from aster.testing.postgres import ROLE, PostgresProcess

_TEMPLATE = "template_aster"
_STOPS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


_EMPTY = """
DO $$
DECLARE item record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR item IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname <> 'schema_migrations' AND pg_relation_size(oid) > 0
    LOOP
        EXECUTE format('DELETE FROM %I', item.relname);
    END LOOP;
    FOR item IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
    LOOP
        PERFORM setval(item.sequencename::regclass, 1, false);
    END LOOP;
END $$
"""


class Server:
    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="aster-pg-"))
        self._root.chmod(0o711)
        # `fsync` is for power cuts, which no test causes: what a server has written survives its own death without.
        self._process = PostgresProcess(
            self._root, fsync="off", full_page_writes="off", shared_buffers="32MB", max_wal_size="256MB"
        )
        self.port = self._process.port
        self._count = 0
        self._spare: list[str] = []
        self._files: dict[Path, str] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    def url(self, database: str, role: str = ROLE) -> str:
        return self._process.url(database, role)

    def make(self) -> None:
        self._process.make()
        self.start()
        self._process.make_role()
        self.run(f"CREATE DATABASE {_TEMPLATE} OWNER {ROLE}")
        open_database(self.url(_TEMPLATE))

    def start(self) -> None:
        assert threading.current_thread() is threading.main_thread(), (
            "the server dies with the thread that starts it"
        )
        self._process.launch()
        self._process.wait()

    def stop(self, how: str = "fast") -> None:
        """Stop the server: `immediate` is a crash."""
        self._process.end(_STOPS[how])

    def end(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self._root, ignore_errors=True)

    def run(self, sql: str, database: str = "postgres") -> list[Any]:
        """As a superuser."""
        with psycopg.connect(self.url(database, "postgres"), autocommit=True) as connection:
            cursor = connection.execute(_literal(sql))
            return cursor.fetchall() if cursor.description else []

    def fresh(self, *, empty: bool = False) -> str:
        """The URL of a database of its own; `empty` without the tables."""
        self._count += 1
        name = f"test_{self._count}"
        template = "template1" if empty else _TEMPLATE
        self.run(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url(name)

    def clean(self) -> str:
        """The URL of a database without rows, which others may have used before: faster than a new one."""
        return self._spare.pop() if self._spare else self.fresh()

    def give_back(self, url: str) -> None:
        """It is used no longer: take its rows out, and count from one again."""
        self.cut(url)
        self.run(_EMPTY, url.rsplit("/", 1)[1])
        self._spare.append(url)

    def of(self, file: Path) -> str:
        """The database in place of a brain's file."""
        if file not in self._files:
            self._files[file] = self.fresh()
        return self._files[file]

    def drop(self, url: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {url.rsplit('/', 1)[1]} WITH (FORCE)")

    def cut(self, url: str, pids: set[int] | None = None) -> int:
        """End the connections to a database, or some of them; returns how many there were."""
        chosen = "" if pids is None else f" AND pid IN ({', '.join(map(str, pids))})"
        found = self.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            f" WHERE datname = '{url.rsplit('/', 1)[1]}' AND pid <> pg_backend_pid(){chosen}"
        )
        return len(found)


@cache
def server() -> Server:
    """The server of this process."""
    made = Server()
    atexit.register(made.end)
    made.make()
    return made


def _literal(sql: str) -> LiteralString:
    return sql  # pyright: ignore[reportReturnType]
