"""A shell command with places for words. A value is quoted, which is only safe where a word of its own may stand.

So a place inside quotes, comments, here-documents, arithmetic or a script within the script is refused when the
catalog is read; and every rendered command is parsed and must have the shape of the same command with harmless
words, or it is not run.
"""

import shlex
from typing import Final, NamedTuple

from aster.sandbox.bash_analysis import Script, parse
from aster.sandbox.bash_unfold import SHELLS
from aster.sandbox.bash_words import listed

_SAMPLE: Final = "zq0place"
_REREADS: Final = SHELLS | listed("eval source . trap let declare local export readonly typeset alias ssh su")
"""Commands that read their arguments as a script, or as something to compute, once more."""

_FORBIDDEN: Final = {"<<": "here-documents", "((": "arithmetic", "[[": "`[[`", "`": "backquotes"}


class _Seen(NamedTuple):
    """What stands open at the end of a part."""

    quote: str = ""
    comment: bool = False
    word: bool = False
    ended_options: bool = False


class ShellTemplate:
    """The fixed texts around the places, in order."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts

    def problem(self) -> str | None:
        """Why a place is not safe, if one is not."""
        text = "".join(self._parts)
        for forbidden, name in _FORBIDDEN.items():
            if forbidden in text:
                return f"a command with places for values cannot have {name}"
        for seen in self._before():
            if seen.quote:
                return "a place must not stand inside quotes: values are quoted by themselves"
            if seen.comment:
                return "a place must not stand in a comment"
        return self._misread()

    def takes_options(self, number: int) -> bool:
        """Whether a word at this place that begins with a hyphen would be taken for an option."""
        seen = self._before()[number]
        return not seen.word and not seen.ended_options

    def render(self, words: list[list[str]]) -> str | None:
        """The command with these words at its places; None if they would make it another command."""
        rendered = self._filled(words)
        harmless = self._filled([[_SAMPLE] * len(given) for given in words])
        return rendered if _shape(parse(rendered)) == _shape(parse(harmless)) else None

    def _filled(self, words: list[list[str]]) -> str:
        places = (" ".join(map(shlex.quote, given)) for given in words)
        return self._parts[0] + "".join(place + part for place, part in zip(places, self._parts[1:], strict=True))

    def _misread(self) -> str | None:
        """What the parser makes of the command with a harmless word at each place."""
        names = [f"{_SAMPLE}{number}" for number in range(len(self._parts) - 1)]
        script = parse(self._filled([[name] for name in names]))
        if not script.understood:
            return "it cannot be read as a shell command"
        for command in script.commands:
            if any(name in command.words[0].text for name in names):
                return "a place must not be the command itself"
            rereads = command.program is None or command.program in _REREADS
            if rereads and any(name in word.text for word in command.arguments for name in names):
                return f"a place must not be an argument of {command.program}, which reads it as a script again"
        return None

    def _before(self) -> list[_Seen]:
        """What stands open before each place."""
        seen, found = _Seen(), list[_Seen]()
        for part in self._parts[:-1]:
            seen = _scan(part, seen)
            found.append(seen)
            seen = seen._replace(word=True)
        return found


def _scan(text: str, seen: _Seen) -> _Seen:
    """Go through a part of a script, as far as quotes, comments and the beginnings of words matter."""
    quote, comment, word, ended = seen
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if comment:
            comment = character != "\n"
        elif quote:
            if character == "\\" and quote != "'":
                at += 1
            elif character == quote[-1]:
                quote = ""
        elif character == "\\":
            at, word = at + 1, True
        elif character in "'\"":
            quote, word = ("$'" if character == "'" and text[at - 2 : at - 1] == "$" else character), True
        elif character in " \t\n;|&()<>":
            word, ended = False, ended and character in " \t"
        elif character == "#" and not word:
            comment = True
        else:
            ended = ended or (not word and text[at - 1 : at + 2] in ("-- ", "--\t"))
            word = True
    return _Seen(quote, comment, word, ended)


def _shape(script: Script) -> tuple[object, ...]:
    """What values must not change."""
    return (
        script.understood,
        tuple((command.name, len(command.words), command.fed, command.document) for command in script.commands),
        tuple(redirect.operator for redirect in script.redirects),
        script.assignments,
        tuple(script.functions),
        script.substitutions,
        script.background,
    )
