"""Where a person's lines come from: an editor with history on a terminal, plain lines everywhere else.

Both raise `EOFError` when there is nothing more to come; only a terminal raises `KeyboardInterrupt`. A question is
never answered by what was typed before it could be seen.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from aster.cli.chat.choosing import choose, drop_typed
from aster.cli.chat.draft import Act, Draft

MENU_ROWS = 6
_PIECE = 65_536


class Keyboard(Protocol):
    async def message(self, prompt: str, default: str = "") -> str:
        """What the person wants to say; may have several lines."""
        ...

    async def answer(self, prompt: str) -> str:
        """One line in answer to a question."""
        ...

    async def choice(
        self, key_prompt: str, line_prompt: str, keys: Mapping[str, str], entered: Collection[str]
    ) -> str:
        """The line that one of the keys stands for, or a line that was typed; some keys are to be `entered`."""
        ...

    def live(self, act: Act) -> AbstractContextManager[Draft | None]:
        """While a turn is shown: what is typed becomes a draft, and some keys act at once."""
        ...


class Editor:
    """A line editor; Enter sends, Esc-Enter or Ctrl-J begins a new line, Ctrl-R searches earlier messages."""

    def __init__(
        self, history: Path, status: Callable[[], str], completer: Completer, unfold: Callable[[], None]
    ) -> None:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
        history.chmod(0o600)
        self._messages: PromptSession[str] = PromptSession(
            history=FileHistory(history),
            key_bindings=_editing(unfold),
            bottom_toolbar=status,
            completer=completer,
            complete_while_typing=True,
            reserve_space_for_menu=MENU_ROWS,
            enable_open_in_editor=True,
            prompt_continuation="  ",
        )

    async def message(self, prompt: str, default: str = "") -> str:
        return await self._messages.prompt_async(prompt, default=default)

    async def answer(self, prompt: str) -> str:
        return await choose("", prompt, {})

    async def choice(
        self, key_prompt: str, line_prompt: str, keys: Mapping[str, str], entered: Collection[str]
    ) -> str:
        return await choose(key_prompt, line_prompt, keys, entered=entered)

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold the terminal for a whole chat: what is typed between two prompts is neither echoed nor changed, so
        that the next one gets it as it was typed."""
        number = sys.stdin.fileno()
        before, silent = termios.tcgetattr(number), termios.tcgetattr(number)
        silent[0] &= ~termios.ICRNL
        silent[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(number, termios.TCSANOW, silent)
        try:
            yield
        finally:
            termios.tcsetattr(number, termios.TCSADRAIN, before)

    @contextmanager
    def live(self, act: Act) -> Generator[Draft | None]:
        draft = Draft(act)
        with draft.listening():
            yield draft


def _editing(unfold: Callable[[], None]) -> KeyBindings:
    bindings = KeyBindings()
    bindings.add("escape", "enter")(_new_line)
    bindings.add("c-j")(_new_line)

    @bindings.add("enter", filter=Condition(_after_backslash))
    def _continued(event: KeyPressEvent) -> None:
        event.current_buffer.delete_before_cursor()
        _new_line(event)

    @bindings.add("c-o")
    def _unfolded(event: KeyPressEvent) -> None:
        del event
        run_in_terminal(unfold)

    return bindings


def _after_backslash() -> bool:
    from prompt_toolkit.application import get_app

    return get_app().current_buffer.document.text_before_cursor.endswith("\\")


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


class Lines:
    """Lines from a pipe or a file, each a message or an answer, in order; a terminal is shown prompts, and does not
    answer a question by what was typed before it. No more is read than is asked for."""

    def __init__(self, prompts: TextIO | None = None) -> None:
        self._rest = b""
        self._prompts = prompts

    async def message(self, prompt: str, default: str = "") -> str:
        return await self.answer(prompt)

    async def answer(self, prompt: str) -> str:
        if self._prompts is not None:
            self._prompts.write(prompt)
            self._prompts.flush()
        while b"\n" not in self._rest and (more := await _read()):
            self._rest += more
        if not self._rest:
            raise EOFError
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def choice(
        self, key_prompt: str, line_prompt: str, keys: Mapping[str, str], entered: Collection[str]
    ) -> str:
        if self._prompts is not None:
            self._rest = b""
            drop_typed()
        return await self.answer(line_prompt)

    @contextmanager
    def live(self, act: Act) -> Generator[Draft | None]:
        yield None


async def _read() -> bytes:
    """What standard input has next. It is never made non-blocking: others share it, above all a terminal's output."""
    loop, number, ready = asyncio.get_running_loop(), sys.stdin.fileno(), asyncio.Event()
    try:
        loop.add_reader(number, ready.set)
    except PermissionError:  # a file, which never blocks
        return os.read(number, _PIECE)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(number)
    return os.read(number, _PIECE)
