"""What is typed while a turn runs: a draft that can be handed in before the turn ends, and keys that act at once.

The draft is a plain one: text at its end, deleting, pasting. What is not handed in is kept for the next prompt.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import Enum, auto
from typing import TypeAlias

from prompt_toolkit.application import get_app_session
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

STILL_SECONDS = 0.7
SEEN_SECONDS = 0.3
"""How long a question stands there before a key can answer it: what is pressed sooner was meant for something else."""
_ESCAPE_SECONDS = 0.1


class Stroke(Enum):
    """A key that means something at once."""

    STOP = auto()
    FOLD = auto()
    STEER = auto()
    QUEUE = auto()


Act: TypeAlias = Callable[[Stroke], None]

_STROKES = {
    Keys.ControlC: Stroke.STOP,
    Keys.ControlO: Stroke.FOLD,
    Keys.ControlM: Stroke.STEER,
    Keys.ControlI: Stroke.QUEUE,
}


class Draft:
    def __init__(self, act: Act) -> None:
        self.text = ""
        self._act = act
        self._escaped = False
        self._touched = float("-inf")
        self._flushing: asyncio.TimerHandle | None = None

    @contextmanager
    def listening(self) -> Generator[None]:
        """Take the keys of the terminal, except while a prompt has them."""
        session = get_app_session()
        self._source, output = session.input, session.output
        for press in get_typeahead(self._source):
            self.press(press)
        with self._source.raw_mode(), self._source.attach(self._read):
            output.enable_bracketed_paste()
            output.flush()
            try:
                yield
            finally:
                if self._flushing is not None:
                    self._flushing.cancel()
                output.disable_bracketed_paste()
                output.flush()

    async def still(self) -> None:
        """Wait until the person is not in the middle of typing, so that no key meant for the draft answers a
        question."""
        while (left := self._touched + STILL_SECONDS - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def seen(self) -> None:
        """Wait until what was just shown can have been seen by a person whose hands are still."""
        self._touched = max(self._touched, time.monotonic() + SEEN_SECONDS - STILL_SECONDS)
        await self.still()

    def take(self) -> str:
        """The draft, which is empty afterwards."""
        text, self.text = self.text, ""
        return text

    def _read(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
        for press in self._source.read_keys():
            self.press(press)
        self._flushing = asyncio.get_running_loop().call_later(_ESCAPE_SECONDS, self._flush)

    def _flush(self) -> None:
        """An Escape that nothing follows is a key of its own."""
        for press in self._source.flush_keys():
            self.press(press)
        self._escaped = False

    def press(self, press: KeyPress) -> None:
        self._touched = time.monotonic()
        key, escaped = press.key, self._escaped
        self._escaped = key is Keys.Escape
        stroke = _STROKES.get(key) if isinstance(key, Keys) else None
        if key is Keys.ControlJ or (stroke is Stroke.STEER and escaped):
            self.text += "\n"
        elif stroke is not None:
            self._act(stroke)
        elif key is Keys.BracketedPaste:
            self.text += press.data.replace("\r\n", "\n").replace("\r", "\n")
        elif key is Keys.ControlH:
            self.text = self.text[:-1]
        elif key is Keys.ControlU:
            self.text = ""
        elif key is Keys.ControlW:
            self.text = self.text.rstrip()[: -len((self.text.split() or [""])[-1]) or None]
        elif not isinstance(key, Keys) and key.isprintable():
            self.text += key
