"""The process of a local model, seen from the engine: started, asked for its health, stopped.

The key that opens it is made anew for each start and goes through a pipe, so it is in no argument list and no
environment. Whatever the process prints goes to a log beside the weights.
"""

import asyncio
import os
import secrets
import signal
import sys
from pathlib import Path

import httpx2
import msgspec

from aster.contracts.model import decode, encode
from aster.herald.local.child import Orders, Serving
from aster.herald.local.weights import unavailable
from aster.herald.transport import KeepAliveTransport

_START_SECONDS = 300.0
_STOP_SECONDS = 5.0
_HEALTH_SECONDS = 10.0
_NEEDED = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "SYSTEMROOT")
_LAST_WORDS = 300


class ModelProcess:
    """One run of one model."""

    def __init__(self, path: Path, name: str, context: int, log: Path, threads: int = 0) -> None:
        self.name = name
        self.key = secrets.token_urlsafe(32)
        self.url: httpx2.URL | None = None
        self._path = path
        self._context = context
        self._threads = threads
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Load the model and wait until it answers."""
        process = await self._spawn()
        assert process.stdin is not None
        assert process.stdout is not None
        orders = Orders(
            path=str(self._path), name=self.name, key=self.key, context=self._context, threads=self._threads
        )
        process.stdin.write(encode(orders) + b"\n")
        try:
            async with asyncio.timeout(_START_SECONDS):
                said = await process.stdout.readline()
            self.url = httpx2.URL(decode(said, Serving).url)
        except (TimeoutError, msgspec.DecodeError) as error:
            await self.stop()
            raise unavailable(f"The local model could not be loaded: {self._last_words()}") from error

    async def _spawn(self) -> asyncio.subprocess.Process:
        """A process that is on its way when nobody wants it any more is waited for, so that it can be stopped."""
        with self._log.open("wb") as log:
            spawning = asyncio.create_task(
                asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "aster.herald.local.child"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env={name: os.environ[name] for name in _NEEDED if name in os.environ},
                    start_new_session=True,
                )
            )
            try:
                self._process = process = await asyncio.shield(spawning)
            except asyncio.CancelledError:
                self._process = await spawning
                raise
        return process

    async def healthy(self) -> bool:
        """Whether it answers; a process that has ended does not."""
        if self.url is None or self._process is None or self._process.returncode is not None:
            return False
        try:
            return await self.ask("GET", "/health", b"", _HEALTH_SECONDS) == 200
        except httpx2.HTTPError:
            return False

    async def ask(self, method: str, path: str, body: bytes, seconds: float) -> int:
        """A request whose answer does not matter; its status."""
        assert self.url is not None
        request = httpx2.Request(
            method,
            self.url.copy_with(path=path),
            headers={"content-type": "application/json", "authorization": f"Bearer {self.key}"},
            content=body,
            extensions={"timeout": httpx2.Timeout(seconds).as_dict(), "idle_timeout": seconds},
        )
        transport = KeepAliveTransport()
        try:
            response = await transport.handle_async_request(request)
            await response.aread()
            return response.status_code
        finally:
            await transport.aclose()

    async def ended(self, seconds: float) -> bool:
        """Wait for its end, at most that long; says whether it came."""
        assert self._process is not None
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """End it: closing its input asks it to go."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            process.kill()
        except asyncio.CancelledError:
            process.kill()
            raise
        finally:
            await process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = " ".join(line.strip() for line in lines if line.strip())
        return f"{self._end()}{said[-_LAST_WORDS:] or f'it said nothing; see {self._log}'}"

    def _end(self) -> str:
        """A process that was killed says nothing; how it ended does (too little memory, a missing instruction)."""
        code = None if self._process is None else self._process.returncode
        return f"it was ended by {signal.Signals(-code).name}; " if code is not None and code < 0 else ""
