"""Secrets: the values that must not be shown, and the one scanner that takes them out of what is kept or sent.

A registered value is found plain and in the spellings a tool would give it (JSON, URL, base64 at any alignment,
hex); `secret_shapes` adds what only looks like a secret. What is taken out leaves a visible mark with its name. A
text without secrets costs one search for the few characters a secret could begin with.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast
from urllib.parse import quote, quote_plus, urlsplit

import msgspec

from aster.infra.secret_shapes import SHAPES, Found, shape_at

Where: TypeAlias = Literal["tool", "model", "person", "engine", "memory", "log", "trace", "observation"]

REDACTED: Final = "[redacted]"
KNOWN: Final = "known"
ANCHOR: Final = 4
"""So many characters of a registered value are looked for before all of it is."""
SHORTEST: Final = 8
"""A shorter value is in ordinary text by chance; hiding it would hide the text."""
SHORTEST_LOGGED: Final = 4

_TRIVIAL: Final = frozenset(
    {"changeme", "password", "passw0rd", "localhost", "disabled", "undefined", "required", "optional"}
    | {"not-needed", "not_needed", "no-key-needed", "sk-no-key-required", "development", "production"}
)
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|[A-Z0-9]*KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|PAT|DSN)(?:_|$)",
    re.IGNORECASE,
)
_PUBLIC_NAME = re.compile(r"(?:^|_)(?:PUBLIC|HASH|PATH|FILE|DIR|URL|NAME|ID|TYPE|COUNT|TTL|SECONDS|ENABLED)(?:_|$)")
_WORD = re.compile(r"[A-Za-z]+|[\d.,:_/-]+")
_UNFIT = re.compile(r"[^\w .:-]")


class _Value(NamedTuple):
    """A registered value: whether for good, and how often in passing."""

    mark: str
    lasting: bool = False
    passing: int = 0


class Secrets:
    """A set of values and the search for them. What a set learns, its `parent` (the process's) learns too."""

    def __init__(self, *, shapes: bool = True, shortest: int = SHORTEST, parent: "Secrets | None" = None) -> None:
        self.shapes = shapes
        self.counts: Counter[tuple[str, str]] = Counter()
        self._shortest = shortest
        self._parent = parent
        self._values: dict[str, _Value] = {}
        self._marks: dict[str, str] = {}
        self._spelled: Counter[str] = Counter()
        self._lock = Lock()
        self._stale = True
        self._whole: dict[str, list[str]] = {}
        self._known: Anchors | None = None
        self._any: Anchors | None = None

    def register(self, value: str | None, name: str = "", *, passing: bool = False) -> None:
        """Never let this value be seen again; `name` stands in its place. What is `passing` may be unregistered, as
        often as it was registered."""
        if self._parent is not None:
            self._parent.register(value, name, passing=passing)
        if not value or len(value) < self._shortest:
            return
        if self._shortest >= SHORTEST and value.lower() in _TRIVIAL:
            return
        mark = f"[redacted: {_UNFIT.sub('_', name)}]" if name else REDACTED
        with self._lock:
            known = self._values.get(value, _Value(mark))
            self._values[value] = known._replace(
                lasting=known.lasting or not passing, passing=known.passing + passing
            )
            if known.lasting or known.passing:
                return
            for spelling in spellings(value):
                self._marks.setdefault(spelling, mark)
                self._spelled[spelling] += 1
            self._stale = True

    def unregister(self, value: str) -> None:
        """A passing value may be seen again, unless somebody else registered it too."""
        if self._parent is not None:
            self._parent.unregister(value)
        with self._lock:
            known = self._values.get(value)
            if known is None or not known.passing:
                return
            left = self._values[value] = known._replace(passing=known.passing - 1)
            if left.lasting or left.passing:
                return
            del self._values[value]
            for spelling in spellings(value):
                self._spelled[spelling] -= 1
                if not self._spelled[spelling]:
                    del self._spelled[spelling], self._marks[spelling]
            self._stale = True

    def _compile(self) -> None:
        """What is learned is made ready when it is first looked for: registering stays cheap."""
        with self._lock:
            begins = [spelling[:ANCHOR] for spelling in self._marks]
            shaped = [literal for shape in SHAPES for literal in shape.begins]
            whole: dict[str, list[str]] = {}
            for spelling in sorted(self._marks, key=len, reverse=True):
                whole.setdefault(spelling[:ANCHOR], []).append(spelling)
            self._whole = whole
            self._known = Anchors.of(begins) if begins else None
            self._any = Anchors.of(begins + shaped)
            self._stale = False

    def register_environment(self, environ: Mapping[str, str]) -> None:
        """Learn the values of variables whose names say that they are secret, and the passwords in any URL."""
        for name, value in environ.items():
            self.register(_password_in(value), name)
            named = _SECRET_NAME.search(name) is not None and _PUBLIC_NAME.search(name) is None
            if named and len(value) >= SHORTEST and not _WORD.fullmatch(value) and not _is_path(value):
                self.register(value, name)

    def anchors(self, *, shapes: bool) -> "Anchors | None":
        """Where a secret could begin; None when there is nothing to look for."""
        if self._stale:
            self._compile()
        return self._any if shapes and self.shapes else self._known

    def found(self, text: str, *, shapes: bool) -> Iterator[tuple[Found, str]]:
        """Every secret in a text, in order, with the mark that stands for it."""
        anchors = self.anchors(shapes=shapes)
        if anchors is None or not anchors.may_be_in(text):
            return
        hit = anchors.next(text)
        while hit is not None:
            place = hit.start()
            secret = self._at(text, place, shapes)
            if secret is not None:
                yield secret
            hit = anchors.next(text, max(place + 1, secret[0].end if secret is not None else 0))

    def _at(self, text: str, place: int, shapes: bool) -> tuple[Found, str] | None:
        for spelling in self._whole.get(text[place : place + ANCHOR], ()):
            if text.startswith(spelling, place):
                return Found(place, place + len(spelling), KNOWN), self._marks.get(spelling, REDACTED)
        shape = shape_at(text, place) if shapes and self.shapes else None
        return None if shape is None else (shape, f"[redacted: {shape.kind}]")

    def beginning(self, tail: str) -> bool:
        """Whether a registered value may begin with this, and not be complete."""
        return any(len(tail) < len(spelling) and spelling.startswith(tail) for spelling in tuple(self._marks))

    def clean(self, text: str, where: Where, *, shapes: bool = False) -> str:
        """The text with a mark for every secret in it; the text itself when there is none."""
        anchors = self.anchors(shapes=shapes)
        if anchors is None or not anchors.may_be_in(text):
            return text
        parts: list[str] = []
        done = 0
        for secret, mark in self.found(text, shapes=shapes):
            parts += (text[done : secret.start], mark)
            done = secret.end
            self.counts[where, secret.kind] += 1
        return "".join((*parts, text[done:])) if parts else text

    def clean_data(self, value: Any, where: Where, *, shapes: bool = False) -> Any:
        """Plain data (text, numbers, lists, dicts) cleaned throughout; a number may become a mark."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.clean(value, where, shapes=shapes)
        if isinstance(value, dict):
            items = cast("dict[Any, Any]", value).items()
            return {
                self.clean_data(key, where, shapes=shapes): self.clean_data(item, where, shapes=shapes)
                for key, item in items
            }
        if isinstance(value, list | tuple):
            return [self.clean_data(item, where, shapes=shapes) for item in cast("list[Any]", value)]
        shown = str(value)
        cleaned = self.clean(shown, where, shapes=shapes)
        return value if cleaned == shown else cleaned


def spellings(value: str) -> set[str]:
    """The ways a value is written by what handles it, the value itself among them."""
    raw = value.encode("utf-8", "surrogatepass")
    written = {
        value,
        msgspec.json.encode(value).decode()[1:-1],
        ascii(value)[1:-1],
        quote(value, safe="", errors="replace"),
        quote_plus(value, errors="replace"),
    }
    if len(raw) >= SHORTEST:
        written.add(raw.hex())
        for shift in range(3):
            # The characters that depend on this value alone, wherever it stands in what was encoded.
            first, end = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
            aligned = b64encode(bytes(shift) + raw).decode()[first:end]
            written |= {aligned, aligned.replace("+", "-").replace("/", "_")}
    return written


def _password_in(url: str) -> str | None:
    if "://" not in url:
        return None
    try:
        return urlsplit(url).password
    except ValueError:
        return None


def _is_path(value: str) -> bool:
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False


class Anchors(NamedTuple):
    """The beginnings of secrets: `may_be_in` tells fast whether a text has any, `next` finds each of them."""

    may_be_in: Callable[[str], object]
    next: Callable[..., re.Match[str] | None]

    @classmethod
    def of(cls, literals: Sequence[str]) -> "Anchors":
        return cls(_anywhere(literals).search, _begins(literals).search)


_COMMON: Final = " etaoinsrhldcumfpgwybvk,.-\n/:()'_"
"""Characters from the most common in text and code on; all others are rarer."""


def _anywhere(literals: Iterable[str]) -> re.Pattern[str]:
    """Finds any of these by the rarest of its characters: ordinary text has few of those and is mostly skipped."""
    by_rarest: dict[str, set[str]] = {}
    for literal in literals:
        rarest = max(range(len(literal)), key=lambda place: _COMMON.find(literal[place]) % 99)
        before, after = re.escape(literal[: rarest + 1]), re.escape(literal[rarest + 1 :])
        by_rarest.setdefault(literal[rarest], set()).add(f"(?<={before}){after}" if rarest else after)
    return _branching(by_rarest)


def _begins(literals: Iterable[str]) -> re.Pattern[str]:
    """Finds where one of these begins."""
    by_first: dict[str, set[str]] = {}
    for literal in literals:
        by_first.setdefault(literal[0], set()).add(re.escape(literal[1:]))
    return _branching(by_first)


def _branching(by_character: dict[str, set[str]]) -> re.Pattern[str]:
    """One pattern that decides by one character, which is what makes it quick."""
    branches = (
        f"{re.escape(character)}(?:{'|'.join(sorted(rests))})" for character, rests in sorted(by_character.items())
    )
    return re.compile("|".join(branches))


PROCESS: Final = Secrets(shortest=SHORTEST_LOGGED)
"""What no log line, trace or observation of this process may show."""
