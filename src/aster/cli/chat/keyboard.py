"""Where a person's lines come from: an editor with history on a terminal, plain lines everywhere else.

Both raise `EOFError` when there is nothing more to come; only a terminal raises `KeyboardInterrupt`.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class Keyboard(Protocol):
    async def message(self, prompt: str) -> str:
        """What the person wants to say; may have several lines."""
        ...

    async def answer(self, prompt: str) -> str:
        """One line in answer to a question."""
        ...

    def quiet(self) -> AbstractContextManager[None]:
        """While a turn is shown, what is typed is kept for the next prompt and not echoed into the answer."""
        ...


class Editor:
    """A line editor; Enter sends, Esc-Enter begins a new line, the arrow keys find earlier messages."""

    def __init__(self, history: Path, status: Callable[[], str]) -> None:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
        keys = KeyBindings()
        keys.add("escape", "enter")(_new_line)
        self._messages: PromptSession[str] = PromptSession(
            history=FileHistory(history), key_bindings=keys, bottom_toolbar=status
        )
        self._answers: PromptSession[str] = PromptSession()

    async def message(self, prompt: str) -> str:
        return await self._messages.prompt_async(prompt)

    async def answer(self, prompt: str) -> str:
        return await self._answers.prompt_async(prompt)

    @contextmanager
    def quiet(self) -> Generator[None]:
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
        silent = termios.tcgetattr(number)
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(number, termios.TCSANOW, silent)
        try:
            yield
        finally:
            termios.tcsetattr(number, termios.TCSANOW, before)


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


class Lines:
    """Lines from a pipe or a file, each a message or an answer, in order; prompts are not shown."""

    def __init__(self) -> None:
        self._reader: asyncio.StreamReader | None = None

    async def message(self, prompt: str) -> str:
        return await self.answer(prompt)

    async def answer(self, prompt: str) -> str:
        if self._reader is None:
            self._reader = await _stdin()
        line = await self._reader.readline()
        if not line:
            raise EOFError
        return line.decode("utf-8", "replace").rstrip("\n")

    @contextmanager
    def quiet(self) -> Generator[None]:
        yield


async def _stdin() -> asyncio.StreamReader:
    """Standard input without blocking the loop; a file never blocks and is taken whole."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    try:
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, source)
    except (ValueError, PermissionError):
        reader.feed_data(source.read())
        reader.feed_eof()
    return reader
