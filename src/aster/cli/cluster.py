"""`aster cluster`: several replicas over one PostgreSQL behind a balancer, on this machine, for as long as it runs.

It is how the step from one process to many can be seen and tried; production has `deploy/`. Everything listens on
loopback, shares one key and one directory of files, and goes when this process does.
"""

import argparse
import asyncio
import os
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from aster.cli.exits import Exit
from aster.cli.options import settings_of
from aster.cli.replica import Replica
from aster.client import AsterClient
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.testing.balancer import Balancer
from aster.testing.postgres import PostgresMissing, PostgresServer

START_SECONDS = 120.0
CLOSING_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
"""How long a replica may take to say that it is well: on a busy machine a slow one is not a dead one."""


def command(args: argparse.Namespace) -> int:
    asyncio.run(_run(settings_of(args), args))
    return Exit.OK


async def _run(settings: Settings, args: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aster-cluster-")))
        directory.chmod(0o711)  # a database that root starts runs as somebody else and has to find its data
        database = await stack.enter_async_context(_database(settings, directory))
        key = _plain(settings.engine_api_key) or secrets.token_urlsafe(24)
        environ = _environ(settings, directory, database, key)
        replicas = [
            Replica(number, port, environ, directory / f"replica-{number}.log", _say)
            for number, port in enumerate(_free_ports(args.replicas), 1)
        ]
        balancer = await stack.enter_async_context(
            Balancer([one.port for one in replicas], port=args.port, patience=PATIENCE_SECONDS)
        )
        keeping = [asyncio.create_task(one.keep()) for one in replicas]
        try:
            if await _first(stopped, _greet(balancer, key, directory, open_it=not args.no_open)):
                await stopped.wait()
            _say("stopping: turns reach a safe boundary first")
        finally:
            patience = settings.drain_seconds + CLOSING_SECONDS
            await asyncio.gather(*(one.end(patience) for one in replicas))
            await asyncio.gather(*keeping)


@asynccontextmanager
async def _database(settings: Settings, directory: Path) -> AsyncGenerator[str]:
    """The address of the operator's database, or of one that is started for this run."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    try:
        server = PostgresServer(directory / "postgres")
    except PostgresMissing as missing:
        raise EngineError(ErrorCode.CONFIGURATION_INVALID, str(missing)) from missing
    await server.start()
    _say(f"PostgreSQL is process {server.pid} on port {server.port}; its data goes when it does")
    try:
        yield server.url()
    finally:
        await server.stop()


def _environ(settings: Settings, directory: Path, database: str, key: str) -> dict[str, str]:
    """What all replicas are given: what this process has, and what they must have in common. Files and the key to
    credentials are as lasting as the database."""
    given = {"DATABASE_URL": database, "ENGINE_API_KEY": key}
    if settings.database_url is None:
        vault = urlsafe_b64encode(secrets.token_bytes(32)).decode()
        given["AD_ENCRYPTION_KEY"] = _plain(settings.ad_encryption_key) or vault
    brain = directory / "brain.sqlite" if settings.database_url is None else settings.sqlite_db_path
    return {
        **os.environ,
        **given,
        **{f"{name}_FILE": "" for name in given},
        "HOST": "127.0.0.1",
        "SQLITE_DB_PATH": str(brain),
        "LLM_PROVIDER": settings.llm_provider if "llm_provider" in settings.model_fields_set else "demo",
    }


async def _greet(balancer: Balancer, key: str, directory: Path, *, open_it: bool) -> None:
    """Wait until a replica answers, then say where and how to talk to it."""
    async with AsterClient(balancer.url, key) as client, asyncio.timeout(START_SECONDS):
        while True:
            try:
                health = await client.health()
                break
            except EngineError:
                await asyncio.sleep(0.1)
    console = f"{balancer.url}/console"
    print(
        f"Aster {health.version}, {len(balancer.backends)} replicas\n"
        f"  console  {console}\n"
        f"  key      {key}\n"
        f"  talk     aster chat --url {balancer.url} --key {key}\n"
        f"  logs     {directory}\n"
        "  Ctrl-C stops everything.",
        flush=True,
    )
    if open_it and _has_screen():
        webbrowser.open(console)


async def _first(stopped: asyncio.Event, work: Coroutine[None, None, None]) -> bool:
    """Whether the work was done before somebody wanted to stop."""
    doing, leaving = asyncio.create_task(work), asyncio.create_task(stopped.wait())
    await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
    done = doing.done()
    for task in (doing, leaving):
        task.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    if done:
        doing.result()
    else:
        await asyncio.gather(doing, return_exceptions=True)
    return done


def _has_screen() -> bool:
    """Whether there is somebody in front of this machine to show a page to."""
    seen = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return seen and sys.stdout.isatty()


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has, all looked for before any is used."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _say(sentence: str) -> None:
    print(sentence, flush=True)
