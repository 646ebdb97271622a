"""`aster` as a program of its own: run it, or start it and go on."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aster.cli.main import main

TIMEOUT = 60.0

Done: TypeAlias = "subprocess.CompletedProcess[str]"


@dataclass(frozen=True, slots=True)
class Home:
    """A machine of the test's own: a directory, a brain, a port, and nothing of the real environment's settings."""

    directory: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "HOME", "TMPDIR")}
        return {
            **kept,
            "SQLITE_DB_PATH": str(self.directory / "brain.sqlite"),
            "PORT": str(self.port),
            "LLM_PROVIDER": "demo",
            "DRAIN_SECONDS": "1",
            "PYTHONWARNINGS": "error::ResourceWarning",
        }

    def call(self, *args: str, said: str = "", env: Mapping[str, str] | None = None) -> Done:
        """Run `aster` to its end inside this process: the same program, without the time it takes to start."""
        out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
        stdin, sys.stdin = sys.stdin, io.StringIO(said)
        os.environ.clear()
        os.environ.update({**self.env, **(env or {})})
        try:
            with chdir(self.directory), redirect_stdout(out), redirect_stderr(err):
                code = main(args)
        finally:
            sys.stdin = stdin
            os.environ.clear()
            os.environ.update(before)
        return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start `aster` and go on; what it prints can be read from its pipes."""
        return subprocess.Popen(
            [sys.executable, "-m", "aster.cli", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.env, **(env or {})},
            cwd=self.directory,
        )

    def aster(self, *args: str, said: str = "", env: Mapping[str, str] | None = None) -> Done:
        """Run `aster` to its end, with this on its standard input."""
        with self.start(*args, env=env) as process:
            out, err = process.communicate(said, timeout=TIMEOUT)
        return subprocess.CompletedProcess(args, process.returncode, out, err)
