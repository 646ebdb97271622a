"""The database for tests and trials: it starts from nothing, keeps what was committed, and binds the engine's role."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from aster.testing.postgres import PostgresServer


@pytest.fixture
async def server() -> AsyncIterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="aster-pg-") as directory:
        Path(directory).chmod(0o755)
        made = PostgresServer(Path(directory), fsync="off")
        await made.start()
        yield made
        await made.stop()


async def test_a_crash_loses_nothing_and_the_role_is_no_superuser(server: PostgresServer) -> None:
    assert await server.sql("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = 'aster'") == "f"
    assert await server.sql("SELECT extname FROM pg_extension WHERE extname = 'vector'", "aster") == "vector"
    assert await server.create("second") == server.url("second")
    await server.sql("CREATE TABLE kept AS SELECT 7 AS number", "second")
    before, port = server.pid, server.port
    await server.crash()
    await server.start()
    assert (server.pid != before, server.port) == (True, port)
    assert await server.sql("SELECT number FROM kept", "second") == "7"


async def test_nobody_else_on_the_machine_opens_it(server: PostgresServer) -> None:
    for role in ("postgres", "aster"):
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(f"postgresql://{role}@127.0.0.1:{server.port}/postgres")


async def test_a_server_that_cannot_start_says_why() -> None:
    with tempfile.TemporaryDirectory(prefix="aster-pg-") as directory:
        Path(directory).chmod(0o755)
        other = PostgresServer(Path(directory), shared_buffers="nonsense")
        with pytest.raises(RuntimeError, match="shared_buffers"):
            await other.start()
        await other.stop()
