"""One engine of `aster cluster`: a process that is started again when it ends, until it is told to stop.

It always comes back on the same port, so that the balancer knows it, and its log goes on in the same file.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Say: TypeAlias = Callable[[str], None]

AGAIN_SECONDS = 1.0
_WORDS = 1500


class Replica:
    """`keep` runs it until `end`; a start that fails at once is said with its last words."""

    def __init__(self, number: int, port: int, environ: Mapping[str, str], log: Path, say: Say) -> None:
        self.port = port
        self._name = f"replica {number}"
        self._environ = {**environ, "PORT": str(port)}
        self._log = log
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._ending = asyncio.Event()
        self._starting = asyncio.Lock()
        """Held while a process is being made: whoever ends it waits for it to be one."""

    async def keep(self) -> None:
        while True:
            async with self._starting:
                if self._ending.is_set():
                    return
                await self._start()
            assert self._process is not None
            self._say(f"{self._name} is process {self._process.pid} on port {self.port}")
            code = await self._process.wait()
            if not self._ending.is_set():
                self._say(f"{self._name} ended ({_reason(code)}); it is started again{self._last_words(code)}")
                await self._pause()

    async def end(self, patience: float) -> None:
        """Ask it to drain and go; after `patience` seconds it goes at once."""
        self._ending.set()
        async with self._starting:
            process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(patience):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _start(self) -> None:
        """In a session of its own: a Ctrl-C at the terminal is for `aster cluster`, which passes it on in order."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "aster.cli", "serve"),
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(AGAIN_SECONDS):
                await self._ending.wait()
        except TimeoutError:
            pass

    def _last_words(self, code: int) -> str:
        """What its log ends with, when it left by itself."""
        return "" if code <= 0 else "\n" + self._log.read_text(errors="replace")[-_WORDS:].strip()


def _reason(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
