"""Installs a lock file into the Python that runs this, and shows how far it is: pip alone would say nothing, or all.

`python tools/install.py requirements.lock [--no-deps -e . …]`: every package must have the hash the lock names. What
pip said is shown only when it fails. Nothing but the standard library is used, because nothing else is there yet.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")
SEEN = re.compile(r"(?:Collecting|Requirement already satisfied:|Ignoring|Processing \S*/)\s*([A-Za-z0-9][\w.-]*)")
PINNED = re.compile(r"^[\w.\[\]-]+==", re.MULTILINE)
PLAIN_SECONDS = 10.0
"""How often a line is written where there is no terminal to draw on."""


class Progress:
    """One line that changes on a terminal; a line now and then elsewhere."""

    def __init__(self) -> None:
        self._drawing = sys.stdout.isatty()
        self._last = time.monotonic()

    def show(self, text: str, *, always: bool = False) -> None:
        if self._drawing:
            sys.stdout.write(f"\r\x1b[2K  {text[:70]}")
        elif always or time.monotonic() - self._last > PLAIN_SECONDS:
            self._last = time.monotonic()
            sys.stdout.write(f"  {text}\n")
        sys.stdout.flush()

    def close(self) -> None:
        if self._drawing:
            sys.stdout.write("\r\x1b[2K")


def lines(arguments: tuple[str, ...], said: list[str]) -> Iterator[str]:
    """What pip says, as it says it."""
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            yield line
    if process.returncode:
        raise SystemExit("".join(said) + f"\npip could not install this (exit code {process.returncode}).")


def install(lock: Path) -> None:
    total = len(PINNED.findall(lock.read_text()))
    said: list[str] = []
    progress, seen, begun = Progress(), 0, time.monotonic()
    print(f"Installing {total} packages from {lock.name} (once; a minute or two)", flush=True)
    try:
        for line in lines((*PIP, "--require-hashes", "-r", str(lock)), said):
            if found := SEEN.match(line.strip()):
                seen += 1
                progress.show(f"{seen}/{total} {found[1]}")
            elif line.startswith("Installing collected"):
                progress.show("unpacking", always=True)
    finally:
        progress.close()
    print(f"  installed in {time.monotonic() - begun:.0f} s", flush=True)


def main(arguments: list[str]) -> None:
    install(Path(arguments[0]))
    if arguments[1:]:
        for _ in lines((*PIP, *arguments[1:]), []):
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
