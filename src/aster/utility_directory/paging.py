"""Some lines of a long text: as many as were asked for and fit into a page, and how to read on.

The text of a page is exactly what is in the file; only its first line, when there is something to say, is ours. No
file is read further than a bound, however long its lines are.
"""

import codecs
import os
from collections.abc import Sequence
from dataclasses import dataclass
from encodings import cp1252  # by name it would be loaded by a thread that may not read the interpreter's files
from typing import BinaryIO

from aster.contracts.tools import ToolOutcome

PAGE_BYTES = 50_000
PAGE_LINES = 2_000
_COUNTED_BYTES = 50_000_000
_SCANNED_BYTES = 200_000_000


@dataclass(slots=True)
class Page:
    """Lines from `first` to `last`; `last` is 0 when there are none. `total` counts the lines of the whole text,
    None when that would take too long. `cut_line` is one too long to show whole."""

    first: int
    data: bytes = b""
    last: int = 0
    total: int | None = 0
    complete: bool = True
    cut_line: int | None = None
    out_of_reach: bool = False


def page_of(file: BinaryIO, first: int, limit: int, size: int) -> Page:
    """A page of an open file of `size` bytes, from its position on."""
    page = Page(first)
    seen = _collect(page, file, limit)
    if size > _COUNTED_BYTES or page.out_of_reach:
        page.total = None
    else:
        page.total = seen + _lines_left(file)
    return page


def _collect(page: Page, file: BinaryIO, limit: int) -> int:
    """Fill the page; returns how many lines were seen."""
    seen = scanned = 0
    continues = False
    while piece := file.readline(PAGE_BYTES + 1):
        scanned += len(piece)
        began = not continues
        seen += began
        continues = not piece.endswith(b"\n")
        if scanned > _SCANNED_BYTES:
            page.complete, page.out_of_reach = False, True
            return seen
        if seen < page.first or not began:
            continue
        room = PAGE_BYTES - len(page.data)
        if seen >= page.first + limit or (len(piece) > room and page.data):
            page.complete = False
            file.seek(-len(piece), os.SEEK_CUR)
            return seen - 1
        page.data += piece[:room]
        page.last = seen
        if len(piece) > room:
            page.cut_line = seen
    return seen


def _lines_left(file: BinaryIO) -> int:
    count, last = 0, b"\n"
    while chunk := file.read(1 << 20):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


def paged(name: str, page: Page, notes: Sequence[str] = ()) -> ToolOutcome:
    """The page as a call's outcome, under a line that says what it is a part of."""
    total = "very many" if page.total is None else f"{page.total:,}"
    if page.last == 0:
        if page.out_of_reach:
            text = f"Error: line {page.first} is too far into {name}; see it with bash (tail, sed -n)."
            return ToolOutcome.error(text, reason="out_of_range")
        if page.first == 1:
            return ToolOutcome.text("(empty file)")
        return ToolOutcome.error(f"Error: {name} has only {total} lines.", reason="out_of_range")
    text, letters = _decoded(page.data, cut=page.cut_line is not None)
    said = [*notes]
    if page.first > 1 or not page.complete:
        said.append(f"lines {page.first}-{page.last} of {total}")
    if page.cut_line is not None:
        said.append(f"line {page.cut_line} is too long and is cut; see the rest with bash (cut -c)")
    if not page.complete:
        said.append(f"read on with offset={page.last + 1}")
    if letters:
        said.append(letters)
    header = f"[{name}: {'; '.join(said)}]\n" if said else ""
    return ToolOutcome.text(header + text, {"lines": page.last - page.first + 1, "complete": page.complete})


def _decoded(data: bytes, *, cut: bool) -> tuple[str, str]:
    """The text, and what has to be said about its letters. Where nothing at all is UTF-8 it is read as Latin-1 in
    the form that is really in use; single wrong bytes in UTF-8 are marked, so that the rest stays readable."""
    utf8 = codecs.getincrementaldecoder("utf-8")
    try:
        text, letters = utf8("strict").decode(data, not cut), ""
    except UnicodeDecodeError:
        text, letters = utf8("replace").decode(data, not cut), "bytes that are not UTF-8 are shown as \ufffd"
        if not any(letter > "\x7f" and letter != "\ufffd" for letter in text):
            text, letters = cp1252.Codec().decode(data, "replace")[0], "not UTF-8, shown as Latin-1 (Windows-1252)"
    return text.replace("\x00", "\ufffd"), letters  # NUL cannot be stored in every brain
