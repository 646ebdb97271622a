"""A database kept in a file by PostgreSQL's own programs, where they are at hand and new enough for the server.

A password is given to them in their environment, where other users of the machine cannot read it.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from aster.brain.postgres.connection import PostgresConnection
from aster.contracts.errors import EngineError, ErrorCode

HEADER: Final = b"PGDMP"
_VERSION: Final = re.compile(r"(\d+)")


def programs_fit(db: PostgresConnection) -> bool:
    """Whether `pg_dump` is here and not older than the server."""
    found = shutil.which("pg_dump")
    if found is None or shutil.which("pg_restore") is None:
        return False
    said = _VERSION.search(subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout)
    server = int(db.execute("SELECT current_setting('server_version_num')").fetchone()[0]) // 10_000
    return said is not None and int(said[1]) >= server


def keep(url: str, tables: Sequence[str], to: Path) -> None:
    """All tables of the brain as they are at one moment, engines or not."""
    named = [f"--table={table}" for table in tables]
    _run(
        url, "pg_dump", "--format=custom", "--enable-row-security", "--no-owner", "--no-acl", *named, f"--file={to}"
    )


def bring_back(url: str, dump: Path) -> None:
    """Make the tables anew in place of those that are there, and fill them, all or nothing."""
    how = ("--single-transaction", "--exit-on-error", "--clean", "--if-exists", "--no-owner", "--no-acl")
    _run(url, "pg_restore", *how, str(dump))


def _run(url: str, program: str, *arguments: str) -> None:
    given = conninfo_to_dict(url)
    password = given.pop("password", None)
    environ = {**os.environ, "PGOPTIONS": "-c aster.user=*", "PGAPPNAME": "aster move"}
    if password is not None:
        environ["PGPASSWORD"] = str(password)
    done = subprocess.run(
        [program, f"--dbname={make_conninfo('', **given)}", *arguments],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise EngineError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"{program} failed, and nothing was changed: {done.stderr.strip()[-500:]}",
        )
