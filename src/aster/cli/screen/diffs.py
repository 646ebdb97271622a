"""What a call does to a file, line by line, as far as its input tells: for the person who allows it or looks back."""

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from aster.cli.screen.clean import clean

MOST_CHARACTERS = 400_000
"""Of a longer text only the beginning is compared: comparing costs more than anybody would read."""


class DiffLine(NamedTuple):
    """A line that is added (`+`), removed (`-`), unchanged (a blank) or a place (`@`)."""

    sign: str
    text: str


def change(tool: str, given: dict[str, Any] | None) -> list[DiffLine]:
    """The change a call stands for; nothing when it is none of a file."""
    if given is None:
        return []
    if tool == "write_file" and isinstance(content := given.get("content"), str):
        return [DiffLine("+", line) for line in _lines(content)]
    return list(_edits(given)) if tool == "edit_file" else []


def read_diff(output: str) -> list[DiffLine]:
    """The lines of an output that is a diff itself; nothing when it is not."""
    lines = _lines(output)
    heads = ("diff --git ", "--- ")
    if not lines or not lines[0].startswith(heads) or not any(line.startswith("@@ ") for line in lines):
        return []
    return [_signed(line) for line in lines]


def _signed(line: str) -> DiffLine:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return DiffLine(" ", line)
    sign = {"+": "+", "-": "-", "@": "@"}.get(line[:1], " ")
    return DiffLine(sign, line if sign == "@" else line[1:])


def _edits(given: dict[str, Any]) -> Iterator[DiffLine]:
    several = given.get("edits")
    edits: list[Any] = cast("list[Any]", several) if isinstance(several, list) else [given]
    for number, edit in enumerate(edits):
        if not isinstance(edit, dict):
            continue
        pair = cast("dict[str, Any]", edit)
        old, new = pair.get("old_text"), pair.get("new_text")
        if not isinstance(old, str) or not isinstance(new, str):
            continue
        if number:
            yield DiffLine("@", "…")
        yield from _compared(_lines(old), _lines(new))


def _compared(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=True)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield from (DiffLine(" ", line) for line in old[old_from:old_to])
            continue
        yield from (DiffLine("-", line) for line in old[old_from:old_to])
        yield from (DiffLine("+", line) for line in new[new_from:new_to])


def _lines(text: str) -> list[str]:
    return clean(text[:MOST_CHARACTERS]).rstrip("\n").split("\n") if text else []
