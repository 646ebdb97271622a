"""A fixed argument with places for what a model gives: `git log -n {count}`.

Only the places change. A value enters as data in the language of its argument: as quoted words of a shell command,
as one name within a path, percent-encoded in an address. What cannot be made safe is refused: a place in a template
when the catalog is read, a value when the tool is called.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import quote

from aster.catalog.shell import ShellTemplate

Language: TypeAlias = Literal["shell", "path", "url", "text"]

_PLACE: Final = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}|(?<!\$)\{([a-z][a-z0-9_]*)\}")


class Unfit(Exception):
    """A template, or a value for one, that cannot be used; the message is a sentence without its subject."""


class Template:
    """A text in some language with places for values; `{{name}}` stands for `{name}` itself."""

    def __init__(self, text: str, language: Language) -> None:
        self.language = language
        self.names: list[str] = []
        self._parts: list[str] = []
        end = 0
        for found in _PLACE.finditer(text):
            literal, name = found.groups()
            before = text[end : found.start()]
            end = found.end()
            if name is None:
                self._literal(f"{before}{{{literal}}}")
            else:
                self._literal(before)
                self._parts.append("")
                self.names.append(name)
        self._literal(text[end:])

    def _literal(self, text: str) -> None:
        """`_parts` has one text more than there are names."""
        if len(self._parts) == len(self.names):
            self._parts.append(text)
        else:
            self._parts[-1] += text

    @cached_property
    def whole(self) -> bool:
        """It is one place and nothing else: the value itself is the argument."""
        return self._parts == ["", ""] and self.language != "shell"

    @cached_property
    def _shell(self) -> ShellTemplate:
        return ShellTemplate(self._parts)

    def problem(self) -> str | None:
        """Why values cannot safely be put into it, if so."""
        return self._shell.problem() if self.language == "shell" and self.names else None

    def render(self, given: Mapping[str, Any]) -> Any:
        """The argument with these values, or `Unfit`."""
        values = [given[name] for name in self.names]
        if self.whole:
            return values[0]
        if self.language == "shell":
            words = [_words(name, value) for name, value in zip(self.names, values, strict=True)]
            for name, given_words in zip(self.names, words, strict=True):
                if any("\x00" in word for word in given_words):
                    raise Unfit(f"{name} contains a NUL character")
            return self._rendered_shell(words)
        texts = [self._encoded(name, value) for name, value in zip(self.names, values, strict=True)]
        return _joined(self._parts, texts)

    def _rendered_shell(self, words: list[list[str]]) -> str:
        for number, name in enumerate(self.names):
            if self._shell.takes_options(number) and any(word.startswith("-") for word in words[number]):
                raise Unfit(f"{name} must not begin with a hyphen: it would be read as an option")
        rendered = self._shell.render(words)
        if rendered is None:
            raise Unfit("this input would change what the command does")
        return rendered

    def _encoded(self, name: str, value: object) -> str:
        text = ",".join(_words(name, value))
        if self.language == "url":
            return quote(text, safe="")
        if self.language == "path" and (text in ("", ".", "..") or "/" in text or "\x00" in text):
            raise Unfit(f"{name} must be one name, without slashes")
        return text


def _joined(parts: list[str], texts: list[str]) -> str:
    return parts[0] + "".join(text + part for text, part in zip(texts, parts[1:], strict=True))


def _words(name: str, value: object) -> list[str]:
    """A value as words: itself, or each item of a list."""
    if isinstance(value, list):
        return [_word(name, item) for item in cast("list[object]", value)]
    return [_word(name, value)]


def _word(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise Unfit(f"{name} must be text, a number, true or false, or a list of these")
