"""What the variables of a script can be: the values it gives them itself, as far as they are words in it.

A command begins without an environment, so a variable is what the script made it or nothing. One that is read,
looped over something unknown or computed is never guessed: a word with it stays dynamic, marked as unknown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from aster.sandbox.bash_analysis import Script, SimpleCommand
from aster.sandbox.bash_words import Kind, Piece, Word, wildcard

_MOST = 8
_DEPTH = 4
_MOST_STEPS = 200
_READERS = frozenset(("read", "mapfile", "readarray", "getopts", "printf", "local", "declare", "export", "typeset"))

Alternative: TypeAlias = tuple[Word, ...]


class Variables:
    """The values a script, and the scripts around it, give to their variables."""

    def __init__(self, values: dict[str, list[Word]] | None = None, unknown: Iterable[str] = ()) -> None:
        self._values = {name: list(found) for name, found in (values or {}).items()}
        self._unknown = set(unknown)
        self._steps = 0

    def inner(self) -> "Variables":
        """The same for a script inside: what it sets does not come back."""
        return Variables(self._values, self._unknown)

    def learn(self, script: Script) -> None:
        for binding in script.bindings:
            if binding.value is None:
                self._unknown.add(binding.name)
            else:
                self._values.setdefault(binding.name, []).append(binding.value)
        for name, values in self._values.items():
            if len(values) > _MOST:
                self._unknown.add(name)
        for command in script.commands:
            if command.name in _READERS:
                self._unknown |= {word.text.partition("=")[0] for word in command.arguments if word.literal}

    def settle(self, command: SimpleCommand) -> list[SimpleCommand]:
        """The commands that this one may be once its variables have values."""
        if all(word.kind is not Kind.DYNAMIC for word in command.words):
            return [command]
        options = [self.alternatives(word) for word in command.words]
        if _count(options) > _MOST:
            options = [[(word,)] for word in command.words]
        settled: list[SimpleCommand] = []
        for chosen in product(*options):
            words = tuple(word for alternative in chosen for word in alternative)
            if words:
                settled.append(replace(command, words=words))
        return settled

    def alternatives(self, word: Word, depth: int = 0) -> list[Alternative]:
        """What a word may become; itself, when that cannot be told."""
        if word.kind is not Kind.DYNAMIC:
            return [(word,)]
        self._steps = self._steps + 1 if depth else 0
        if self._steps > _MOST_STEPS:
            return [(replace(word, unknown=True),)]
        doubtful = any(piece.variable and piece.text in self._unknown for piece in word.pieces)
        retokenised = word.splits and ("IFS" in self._values or "IFS" in self._unknown)
        if not word.pieces or doubtful or retokenised or depth > _DEPTH:
            return [(replace(word, unknown=word.unknown or doubtful or retokenised or depth > _DEPTH),)]
        choices = [list(self._choices(word.pieces, index, depth)) for index in range(len(word.pieces))]
        if not all(choices) or _count(choices) > _MOST:
            return [(word,)]
        found: list[Alternative] = []
        for chosen in product(*choices):
            found += _joined(word, chosen)
        return found

    def _choices(self, pieces: tuple[Piece, ...], index: int, depth: int) -> Iterator[Word]:
        piece = pieces[index]
        if not piece.variable:
            at = None if piece.quoted else wildcard(piece.text)
            yield Word(piece.text) if at is None else Word(piece.text, Kind.GLOB, piece.text[:at])
        elif piece.text in self._values:
            for value in self._values[piece.text]:
                for alternative in self.alternatives(value, depth + 1):
                    yield from alternative[:1] if len(alternative) == 1 else (Word(_spoken(alternative)),)
        elif piece.text == "HOME" and not any(before.text for before in pieces[:index]):
            yield Word("~", tilde=True)
        elif piece.text == "PWD" and not any(before.text for before in pieces[:index]):
            yield Word(".")


def _joined(word: Word, chosen: tuple[Word, ...]) -> list[Alternative]:
    if any(part.kind is Kind.DYNAMIC for part in chosen):
        unknown = any(part.unknown for part in chosen)
        return [(replace(word, unknown=word.unknown or unknown),)]
    text = "".join(part.text for part in chosen)
    tilde = next((part.tilde for part in chosen if part.text), False)
    fixed: str | None = None
    for index, part in enumerate(chosen):
        if part.kind is Kind.GLOB and fixed is None:
            fixed = "".join(before.text for before in chosen[:index]) + part.fixed
    if fixed is not None:
        return [(Word(text, Kind.GLOB, fixed, tilde, splits=True),)]
    if word.splits:
        return [tuple(Word(part, tilde=tilde and part.startswith("~")) for part in text.split())]
    return [(Word(text, tilde=tilde),)]


def _spoken(words: Iterable[Word]) -> str:
    return " ".join(word.text for word in words)


def _count(options: list[list[Alternative]] | list[list[Word]]) -> int:
    total = 1
    for option in options:
        total *= len(option)
    return total
