"""Where the brain of a test is. What a row promises, it promises on a file and on PostgreSQL."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.postgres import server


@dataclass(frozen=True)
class Place:
    """A file, or a database in its place."""

    file: Path
    url: str | None

    @property
    def settings(self) -> dict[str, Any]:
        if self.url is None:
            return {"sqlite_db_path": self.file}
        return {"sqlite_db_path": self.file, "database_url": self.url, "runner": "local"}

    def run(self, sql: str) -> list[Any]:
        """Do something to the brain from outside, as somebody with all rights."""
        if self.url is not None:
            return server().run(sql, self.url.rsplit("/", 1)[1])
        with closing(sqlite3.connect(self.file, timeout=10)) as db:
            rows = db.execute(sql).fetchall()
            db.commit()
        return rows
