"""What Tab offers: slash commands and what may follow them, and files of the workspace after an @.

Files are offered where the engine works in folders that this machine has too; one folder is read for each look.
"""

import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import urlsplit

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from aster.cli.chat import commands
from aster.cli.screen.clean import one_line
from aster.cli.screen.themes import THEMES
from aster.contracts.errors import EngineError
from aster.contracts.permissions import PermissionMode

if TYPE_CHECKING:
    from aster.cli.chat.session import Session

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_MOST = 50


class Completing(Completer):
    def __init__(self, session: "Session") -> None:
        self._session = session
        self._folders: tuple[Path, ...] | None = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Commands alone; the editor asks `get_completions_async`, which knows the rest too."""
        return _commands(document.text_before_cursor)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion]:
        text = document.text_before_cursor
        try:
            async for completion in self._found(text):
                yield completion
        except EngineError:
            return

    async def _found(self, text: str) -> AsyncGenerator[Completion]:
        if text.startswith("/") and " " not in text:
            for completion in _commands(text):
                yield completion
        elif text.startswith("/"):
            name, _, begun = text.partition(" ")
            for word, about in await self._arguments(name[1:]):
                if word.startswith(begun):
                    yield Completion(word, -len(begun), display_meta=one_line(about, 60))
        elif (word := text.split(" ")[-1].split("\n")[-1]).startswith("@"):
            for name in _files(await self._roots(), word[1:]):
                yield Completion(name, -len(word) + 1)

    async def _arguments(self, command: str) -> list[tuple[str, str]]:
        """What may follow a command, with a word about each."""
        client = self._session.client
        match command:
            case "resume":
                return [(task.task_id, task.title) for task in (await client.tasks(limit=20)).tasks]
            case "agent":
                return [
                    ("main", "the usual agent"),
                    *((one.name, one.description) for one in await client.agents.list()),
                ]
            case "model":
                return [(name, "") for name in (await client.about()).allowed_models]
            case "mode":
                return [(str(mode), "") for mode in get_args(PermissionMode)]
            case "theme":
                return [(name, "") for name in THEMES]
            case "help":
                return [(name, found.summary) for name, found in commands.COMMANDS.items()]
            case _:
                return []

    async def _roots(self) -> tuple[Path, ...]:
        """The folders the engine works in, if they are this machine's."""
        if self._folders is None:
            here = urlsplit(self._session.client.url).hostname in _HERE
            named = (await self._session.client.about()).folders if here else ()
            self._folders = tuple(path for path in map(Path, named) if path.is_dir())
        return self._folders


def _commands(text: str) -> Iterator[Completion]:
    if text.startswith("/") and " " not in text:
        for name, command in commands.COMMANDS.items():
            if name.startswith(text[1:]):
                yield Completion(f"/{name}", -len(text), display_meta=command.summary)


def _files(roots: Iterable[Path], begun: str) -> Iterator[str]:
    """Names of one folder's entries that go on from what was typed; folders end with a slash."""
    folder, _, start = begun.rpartition("/")
    found: list[str] = []
    for root in roots:
        place = (root / folder).resolve()
        if not place.is_relative_to(root.resolve()) or not place.is_dir():
            continue
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            hidden = entry.name.startswith(".") and not start
            if entry.name.startswith(start) and entry.name.isprintable() and not hidden:
                name = f"{folder}/{entry.name}" if folder else entry.name
                found.append(f"{name}/" if entry.is_dir() else name)
    yield from found[:_MOST]
