"""Real processes for tests that kill: an engine and a model server that can be killed and started again."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import httpx2

START_SECONDS = 180.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A command with a fixed port; `up` waits until its health answers."""

    def __init__(self, argv: list[str], port: int, log: Path, env: dict[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._argv = argv
        self._env = {**os.environ, **env}
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def spawn(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv, env=self._env, stdout=log, stderr=log, stdin=asyncio.subprocess.DEVNULL
            )

    async def up(self) -> None:
        await self.spawn()
        async with httpx2.AsyncClient(trust_env=False, timeout=2) as client, asyncio.timeout(START_SECONDS):
            while True:
                assert self._process is not None
                assert self._process.returncode is None, self._log.read_text()[-3000:]
                try:
                    if (await client.get(self.url + "/health")).status_code == 200:
                        return
                except httpx2.HTTPError:
                    pass
                await asyncio.sleep(0.02)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()


def engine(directory: Path, model_url: str, **more: str) -> Process:
    port = free_port()
    env = {
        "SQLITE_DB_PATH": str(directory / "brain.sqlite"),
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"{model_url}/v1",
        "LLM_MODEL": "scripted",
        "ENGINE_LOG_LEVEL": "WARNING",
        "DRAIN_SECONDS": "2",
        **more,
    }
    argv = [sys.executable, "-m", "aster.cli", "serve", "--port", str(port)]
    return Process(argv, port, directory / "engine.log", env)


def model(directory: Path) -> Process:
    port = free_port()
    argv = [sys.executable, "-m", "aster.testing", "--port", str(port)]
    return Process(argv, port, directory / "model.log", {})
