"""The head of a SKILL.md: `key: value` lines between two lines of three dashes, in the part of YAML that skills use.

Scalars, quoted ones, folded and literal blocks, and lists in both spellings are read; what is anything else is passed
over. Nothing in a head can fail: a head that cannot be read is a skill without one.
"""

import re
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = str | tuple[str, ...]

MOST_LINES: Final = 200
_KEY: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,63})\s*:(?:\s+(.*))?")
_ESCAPES: Final = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


class Document(NamedTuple):
    head: dict[str, Value]
    body: str


def read(text: str) -> Document:
    """The head and the body of a manifest; without a head, all of it is body."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return Document({}, "\n".join(lines).strip())
    end = next((at for at in range(1, min(len(lines), MOST_LINES)) if lines[at].rstrip() == "---"), None)
    if end is None:
        return Document({}, "\n".join(lines).strip())
    return Document(_head(lines[1:end]), "\n".join(lines[end + 1 :]).strip())


def _head(lines: list[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        matched = _KEY.fullmatch(lines[at].rstrip())
        at += 1
        if matched is None:
            continue
        below = at
        while below < len(lines) and _KEY.fullmatch(lines[below].rstrip()) is None:
            below += 1
        value = _value((matched[2] or "").strip(), lines[at:below])
        if value is not None:
            found.setdefault(matched[1].lower(), value)
        at = below
    return found


def _value(first: str, below: list[str]) -> Value | None:
    """The value of a key: what stands behind it, and the lines below that belong to it."""
    if first[:1] in ("|", ">"):
        dents = [len(line) - len(line.lstrip()) for line in below if line.strip()]
        text = [line[min(dents, default=0) :].rstrip() for line in below]
        return ("\n" if first[0] == "|" else " ").join(text).strip()
    items = [line.strip() for line in below if line.strip() and not line.lstrip().startswith("#")]
    if not first:
        listed = [_scalar(item[1:].strip()) for item in items if item.startswith("-")]
        return tuple(listed) if listed and len(listed) == len(items) else None
    if first.startswith("[") and first.endswith("]"):
        return tuple(_scalar(item.strip()) for item in first[1:-1].split(",") if item.strip())
    return _scalar(" ".join((first, *items)))


def _scalar(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text[1:-1])
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return re.split(r"\s#", text, maxsplit=1)[0].rstrip()
