"""The processes of a benchmark: a model server, Aster, the proxy. Each is started on a free port of loopback, in a
directory of its own, with an environment that holds nothing but what is named here, and is stopped by its pid.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

import psutil

from benchmarks.client import Client, Lost, Refused

START_SECONDS = 30.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.002
ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A command that serves `port`; `start` says how many seconds it took until ``/health`` answered."""

    def __init__(self, name: str, argv: list[str], port: int, directory: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self.port = port
        self.client = Client(port)
        self._argv = argv
        self._directory = directory
        self._env = {**_surroundings(directory), **env}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> float:
        self._directory.mkdir(parents=True, exist_ok=True)
        began = monotonic()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv,
                env=self._env,
                cwd=self._directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            await self._healthy()
        except BaseException:
            await self.stop()
            raise
        return monotonic() - began

    async def stop(self) -> None:
        self.client.close()
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def kill(self) -> None:
        """End it at once, as a fault would; `start` brings it back on the same port."""
        self.client.close()
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    def megabytes(self) -> float:
        """What it keeps in memory, with its children."""
        return sum(process.memory_info().rss for process in self._family()) / 1e6

    def cpu_seconds(self) -> float:
        times = [process.cpu_times() for process in self._family()]
        return sum(time.user + time.system for time in times)

    def last_words(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]

    @property
    def _log(self) -> Path:
        return self._directory / f"{self.name}.log"

    def _family(self) -> list[psutil.Process]:
        assert self._process is not None
        process = psutil.Process(self._process.pid)
        return [process, *process.children(recursive=True)]

    async def _healthy(self) -> None:
        deadline = monotonic() + START_SECONDS
        while True:
            process = self._process
            if process is None or process.returncode is not None or monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start:\n{self.last_words()}")
            try:
                await self.client.get("/health", timeout=2)
                return
            except (OSError, Lost, Refused, TimeoutError):
                await asyncio.sleep(POLL_SECONDS)


def _surroundings(directory: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }


def model_server(directory: Path) -> Server:
    port = free_port()
    return Server("model", [sys.executable, "-m", "aster.testing", "--port", str(port)], port, directory, {})


def proxy_server(directory: Path, model: Server) -> Server:
    port = free_port()
    url = f"http://127.0.0.1:{model.port}"
    argv = [sys.executable, "-m", "benchmarks.proxy", "--port", str(port), "--model", url]
    return Server("proxy", argv, port, directory, {})


def aster_server(directory: Path, model: Server, name: str = "aster", **more: str) -> Server:
    port = free_port()
    workspace = directory / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    env = {
        "SQLITE_DB_PATH": str(brain_of(directory)),
        "ALLOWED_ROOTS": str(workspace),
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"http://127.0.0.1:{model.port}/v1",
        "LLM_MODEL": "scripted",
        "LLM_API_KEY": "benchmark",
        "ENGINE_LOG_LEVEL": "WARNING",
        "DRAIN_SECONDS": "1",
        **more,
    }
    argv = [sys.executable, "-m", "aster.cli", "serve", "--port", str(port)]
    return Server(name, argv, port, directory, env)


def brain_of(directory: Path) -> Path:
    """Where Aster keeps its brain when it is started in this directory."""
    return directory / "brain" / "brain.sqlite"
