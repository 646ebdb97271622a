"""The first ten minutes of a person at a terminal: sample files, three things to try, the console in a browser.

The sample is laid out once for a brain, beside which nothing was worked on before, in the workspace of one task; it is
never written over anything and does not come back. Directories that the operator lends get no sample.
"""

import io
import os
import shlex
import shutil
import sys
import webbrowser
import zipfile
from importlib.resources import files
from pathlib import Path

import httpx2

from aster.client import DEFAULT_URL
from aster.infra.settings import Settings

TASK = "first-steps"
"""The task whose workspace has the sample files."""

_STAND_IN = ".txt"
"""How the names of sample programs end where they are kept, so that they are no programs of Aster's."""
_ELSEWHERE = ("CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")

_WITH_SAMPLE = (
    ("read notes.md", "sample files are there: notes, a table, a small program"),
    ("run python3 -m unittest", "one test fails; ask it why, and to mend it"),
    ("run chmod -R 700 .", "it asks you before it does that"),
)
_WITHOUT = (
    ("write ideas.txt: a boat", "a file in the task's workspace; /undo takes it back"),
    ("run ls -la", "a command, in the sandbox"),
    ("ask me what I like best", "it waits for you, also while the engine is restarted"),
)


class FirstSteps:
    """What a start has to offer. To be made before the engine works, because it looks at what is there by then."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._first = settings.database_url is None and not self._done.exists()
        self._untouched = not settings.roots and not (settings.data_dir / "workspaces").exists()
        self._sample = False

    @property
    def _done(self) -> Path:
        return self._settings.data_dir / "first-steps.done"

    async def prepare(self, url: str) -> None:
        """At the first start, put the sample files into the workspace of their task."""
        if not self._first:
            return
        if self._untouched:
            self._sample = await _sent(url, self._settings)
        self._done.touch()

    def words(self, url: str) -> str:
        """Where the console is, which key it wants, and three things to try."""
        where = f"{chatting(url)} --task {TASK}" if self._sample else chatting(url)
        things = _WITH_SAMPLE if self._sample else _WITHOUT
        return "\n".join(
            [
                f"  console  {self._console(url)}",
                f"  key      {_key(self._settings)}",
                "",
                f"Three things to try, in the console or with `{where}` in a second terminal:",
                *(f"  {number}  {said:26} {why}" for number, (said, why) in enumerate(things, 1)),
            ]
        )

    def open_browser(self, url: str) -> None:
        """At the first start, where a person can see it. One that cannot be opened is no loss: the address is there."""
        if self._first and self._settings.open_browser and _watched():
            webbrowser.open(self._console(url))

    def _console(self, url: str) -> str:
        """A first visit begins with the guide, which is told that there are sample files."""
        return f"{url}/console/settings/guide?sample" if self._sample else f"{url}/console"


def chatting(url: str) -> str:
    """How to talk to this engine from a second terminal, as it would be typed here."""
    called = Path(sys.argv[0])
    program = shlex.quote(str(called)) if called.name == "aster" and shutil.which("aster") is None else "aster"
    return f"{program} chat" if url == DEFAULT_URL else f"{program} chat --url {url}"


def _key(settings: Settings) -> str:
    if settings.engine_api_key is not None:
        return "the one in ENGINE_API_KEY"
    if settings.engine_key_hash is not None:
        return "the one whose hash is in ENGINE_KEY_HASH"
    return "none needed on this machine; ENGINE_API_KEY sets one"


async def _sent(url: str, settings: Settings) -> bool:
    """Whether the engine has taken the sample files; it wants its key like from anybody else."""
    key = settings.engine_api_key.get_secret_value() if settings.engine_api_key is not None else ""
    headers = {"Content-Type": "application/zip", **({"X-Engine-Key": key} if key else {})}
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:
        try:
            return (await http.post(f"/tasks/{TASK}/workspace", content=_archive(), headers=headers)).is_success
        except httpx2.HTTPError:
            return False


def _watched() -> bool:
    """Whether a person sits before a screen of this machine: not in CI, not over ssh."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or any(os.environ.get(name) for name in _ELSEWHERE):
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)


def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(files("aster.cli").joinpath("sample").iterdir(), key=lambda file: file.name):
            archive.writestr(f"sandbox/{Path(file.name.removesuffix(_STAND_IN))}", file.read_bytes())
    return packed.getvalue()
