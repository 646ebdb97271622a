"""A program in a pseudo terminal: type keys, wait for what the screen says."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.glass import Glass

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_WHERE_IS_THE_CURSOR = b"\x1b[6n"
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_=>])")


class Terminal:
    """Runs `aster` with these arguments as if a person sat there."""

    def __init__(
        self,
        *args: str,
        env: Mapping[str, str],
        cwd: Path,
        rows: int = 40,
        columns: int = 100,
        kind: str = "xterm-256color",
    ) -> None:
        self._master, slave = os.openpty()
        self.raw = ""
        self._plain, self._plain_to = "", 0
        self._read_to = 0
        self._widths: list[tuple[int, int]] = []
        self.resize(rows, columns)
        argv = [sys.executable, "-c", _TAKE_TERMINAL, sys.executable, "-m", "aster.cli", *args]
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "TERM": kind},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)

    @property
    def text(self) -> str:
        """All that was written, without escape sequences. What is new is added to what was known: a program that draws
        often must not have to wait for whoever reads it."""
        new = self.raw[self._plain_to :]
        begun = new.rfind("\x1b")
        if begun >= 0 and _ESCAPES.match(new, begun) is None:
            new = new[:begun]
        self._plain_to += len(new)
        self._plain += _ESCAPES.sub("", new).replace("\r", "")
        return self._plain

    @property
    def glass(self) -> list[str]:
        """What a person sees, scrolled back to the beginning."""
        (_, width), *later = self._widths
        glass, at = Glass(width), 0
        for begins, narrower in later:
            glass.write(self.raw[at:begins])
            glass.resize(narrower)
            at = begins
        return glass.write(self.raw[at:]).seen()

    def resize(self, rows: int, columns: int) -> None:
        """Make the window another size; the program is told the way a terminal tells. What was drawn for the old size
        is read first, though not for ever: a program may never stop drawing."""
        until = time.monotonic() + 0.5
        while self._widths and time.monotonic() < until and self._more(0):
            pass
        self._widths.append((len(self.raw), columns))
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def expect(self, pattern: str, timeout: float = 20.0) -> str:
        """Wait until something new on the screen matches; returns what came up to its end."""
        until = time.monotonic() + timeout
        while True:
            text = self.text
            found = re.compile(pattern).search(text, self._read_to)
            if found is not None:
                seen = text[self._read_to : found.end()]
                self._read_to = found.end()
                return seen
            if not self._more(until - time.monotonic()):
                raise AssertionError(f"{pattern!r} did not appear in:\n{self.text[self._read_to :]}")

    def wait(self, timeout: float = 20.0) -> int:
        """The exit code; reads what is still written, so that the program can end."""
        until = time.monotonic() + timeout
        while self.process.poll() is None and self._more(min(until - time.monotonic(), 0.1)) is not None:
            if time.monotonic() > until:
                raise AssertionError(f"it did not end:\n{self.text}")
        return self.process.wait()

    def _more(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        for _ in range(data.count(_WHERE_IS_THE_CURSOR)):
            os.write(self._master, b"\x1b[1;1R")
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        os.close(self._master)
