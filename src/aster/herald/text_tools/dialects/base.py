"""A block: one stretch of a reply, from its opening marker to its end, gathered piece by piece and then read once.

A block sees every character once, whatever the pieces, and keeps only what it still needs. It ends with an outcome:
what it came to and where in the text to go on.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from aster.herald.text_tools.items import Item
from aster.herald.text_tools.toolbox import Toolbox
from aster.herald.text_tools.values import Reading

Trim: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Context:
    """What a block may ask: the tools, and how its format judges.

    `strict` refuses repeated, unnamed and unknown parameters; `bare_names` asks that a call without any framing
    names an offered tool before it is held back at all. `untyped` reads a value whose type is not known and `trim`
    takes the layout off a value, where a format does not do as its dialect does.
    """

    tools: Toolbox
    strict: bool = False
    bare_names: bool = False
    untyped: Reading | None = None
    trim: Trim | None = None


@dataclass(slots=True)
class Outcome:
    """The items a block came to, and the text and place to go on from; in another block, if one takes over."""

    items: list[Item]
    text: str
    pos: int
    block: "Block | None" = None


class Block(ABC):
    """`push` takes the text from `pos` on; None asks for more of it."""

    @abstractmethod
    def push(self, text: str, pos: int, final: bool) -> Outcome | None: ...


Opening: TypeAlias = Callable[[Context, str], Block]
"""Makes the block that an opening marker begins; it gets the marker as it was written."""


def joined(held: str, text: str, pos: int) -> tuple[str, int]:
    """What was held back and what follows it as one text, and where it begins; copied only if it has to be."""
    if not held:
        return text, pos
    start = pos - len(held)
    if start >= 0 and text.startswith(held, start):
        return text, start
    return held + text[pos:], 0


class Headed(Block):
    """A block that holds back its head until it is known what it begins."""

    def __init__(self, context: Context, opener: str) -> None:
        self._context = context
        self._opener = opener
        self._held = ""


class Gathered(Block):
    """A block that looks for its end with `_seek` and is read whole by `_read`.

    `lookback` is how much of the text before it `_seek` has to see again when more arrives.
    """

    lookback = 0

    def __init__(self, context: Context, opener: str) -> None:
        self.context = context
        self.opener = opener
        self._parts: list[str] = []
        self._tail = ""

    @abstractmethod
    def _seek(self, text: str, pos: int, final: bool) -> int:
        """The end of the block in this text, or -1."""

    @abstractmethod
    def _read(self, body: str, whole: bool) -> list[Item]:
        """What the body (all after the opener, up to the end) means; not `whole` if the reply ended first."""

    def push(self, text: str, pos: int, final: bool) -> Outcome | None:
        if self._tail:
            text, pos, self._tail = self._tail + text[pos:], 0, ""
        end = self._seek(text, pos, final)
        if end >= 0 or final:
            whole, end = end >= 0, end if end >= 0 else len(text)
            body = "".join((*self._parts, text[pos:end]))
            return Outcome(self._read(body, whole), text, end)
        cut = max(pos, len(text) - self.lookback)
        self._parts.append(text[pos:cut])
        self._tail = text[cut:]
        return None
