"""Jupyter notebooks as a model should see them: the source and the printed output of each cell, and its pictures.

A notebook is a file that anybody may have written: what is not as it should be is left out, never trusted.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from aster.contracts.blocks import ImageBlock
from aster.utility_directory.pictures import picture_of_base64

MAX_PICTURES = 5
_OUTPUT_CHARS = 10_000
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(slots=True)
class Notebook:
    """The text of a notebook, and its pictures, each with the line (from 1) at which it is mentioned."""

    lines: list[str] = field(default_factory=list[str])
    cells: int = 0
    pictures: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def text(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode("utf-8", "replace")

    def add(self, text: str) -> None:
        self.lines += text.rstrip("\n").split("\n")

    def mention(self, encoded: str, media_type: str) -> None:
        self.add(f"(picture, {media_type})")
        self.pictures.append((len(self.lines), encoded))

    def shown(self, first: int, last: int) -> list[ImageBlock]:
        """The pictures of these lines, up to the most that are shown at once."""
        found: list[ImageBlock] = []
        for line, encoded in self.pictures:
            if first <= line <= last and len(found) < MAX_PICTURES:
                block = picture_of_base64(encoded)
                if block is not None:
                    found.append(block)
        return found


def notebook(data: bytes) -> Notebook | None:
    """A notebook; None if these bytes are not one."""
    try:
        document = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    cells = _field(document, "cells")
    if not isinstance(cells, list):
        return None
    book = Notebook()
    for number, cell in enumerate(cast("list[Any]", cells), 1):
        kind = _field(cell, "cell_type")
        book.cells = number
        book.add(f"## Cell {number} ({kind if isinstance(kind, str) and kind.isalpha() else 'unknown'})")
        book.add(_text(_field(cell, "source")))
        outputs = _field(cell, "outputs")
        if isinstance(outputs, list) and outputs:
            book.add("### Output")
            for output in cast("list[Any]", outputs):
                _add_output(book, output)
        book.add("")
    return book


def _add_output(book: Notebook, output: object) -> None:
    printed = _text(_field(output, "text")) or _text(_field(output, "traceback"), "\n")
    data = _field(output, "data")
    for media_type in _IMAGE_TYPES:
        encoded = _text(_field(data, media_type))
        if encoded:
            book.mention(encoded, media_type)
            return
    printed = printed or _text(_field(data, "text/plain"))
    if printed:
        plain = _COLOURS.sub("", printed)
        left_out = len(plain) - _OUTPUT_CHARS
        book.add(plain[:_OUTPUT_CHARS] + (f"\n[{left_out:,} more characters of output]" if left_out > 0 else ""))


def _field(thing: object, name: str) -> object:
    return cast("dict[str, object]", thing).get(name) if isinstance(thing, dict) else None


def _text(value: object, between: str = "") -> str:
    """A text, which the format also allows to be a list of pieces."""
    if isinstance(value, list):
        return between.join(piece for piece in cast("list[object]", value) if isinstance(piece, str))
    return value if isinstance(value, str) else ""
