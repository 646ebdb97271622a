"""A question answered by one key, or by a line.

A key answers when nothing follows it for a moment: who types a word is typing a line, whatever letter it begins with.
A key that would answer for calls to come as well is followed by Enter. Nothing that was typed before the question could
be seen answers it, and nothing that is pasted.
"""

import asyncio
import sys
import termios
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app_session
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

TYPE = "i"
"""The key that asks for a line instead of a key."""
WORD_SECONDS = 0.4
"""How long a key stands alone before it is an answer and not the beginning of a word."""


async def choose(
    key_prompt: str,
    line_prompt: str,
    keys: Mapping[str, str],
    *,
    entered: Collection[str] = (),
    pause: float = WORD_SECONDS,
) -> str:
    """The line that a key stands for (those that are to be `entered` are followed by Enter), or the line that was
    typed: there and then, after `i`, or because there are no keys."""
    clear_typeahead(get_app_session().input)
    drop_typed()
    if keys:
        hand = _Hand({**keys, TYPE: TYPE}, entered, pause)
        asking: PromptSession[str] = PromptSession(key_bindings=hand.bindings())
        said = await asking.prompt_async(key_prompt)
        if said != TYPE:
            return said
    lines: PromptSession[str] = PromptSession()
    return await lines.prompt_async(line_prompt)


def drop_typed() -> None:
    """What was typed at the terminal and read by nobody yet is gone: it was meant for something else."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@dataclass(slots=True)
class _Hand:
    """What is pressed at one question."""

    keys: Mapping[str, str]
    entered: Collection[str]
    pause: float
    _at_once: bool = False
    """Whether a key came in the same piece of input as what is looked at now: nobody types that fast."""

    def bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        bindings.add(Keys.Any)(self._typed)
        bindings.add("enter")(self._enter)
        for nothing in (Keys.BracketedPaste, "c-j"):
            bindings.add(nothing)(_nothing)
        return bindings

    def _typed(self, event: KeyPressEvent) -> None:
        if not event.data.isprintable():
            return
        event.current_buffer.insert_text(event.data)
        loop, key = asyncio.get_running_loop(), event.current_buffer.text.lower()
        self._at_once = True
        loop.call_soon(self._later)
        if key in self.keys and key not in self.entered:
            loop.call_later(self.pause, self._answer, event.app, key)

    def _later(self) -> None:
        self._at_once = False

    def _answer(self, app: "Application[str]", key: str) -> None:
        if app.is_running and not app.is_done and app.current_buffer.text.lower() == key:
            app.exit(result=self.keys[key])

    def _enter(self, event: KeyPressEvent) -> None:
        line = event.current_buffer.text
        if self._at_once:
            event.current_buffer.insert_text(" ")
        elif line.strip():
            event.app.exit(result=self.keys.get(line.lower(), line))


def _nothing(event: KeyPressEvent) -> None:
    del event
