"""A rule: what shall happen with calls of a tool whose content has a pattern, and which calls those are.

The content is a command for `bash`, a path for file tools, otherwise the address or the whole input. Denying and
asking rules look everywhere in a command, however it is wrapped; an allowing rule only ever fits one plain command,
or the very same text, so that nothing rides along behind it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract, encode
from aster.contracts.permissions import Behavior
from aster.sandbox.bash_analysis import Script, parse
from aster.sandbox.bash_unfold import spoken
from aster.sandbox.paths import PathRefused, Workspace

ANYTHING = "*"
_WILD = "*?["
Source: TypeAlias = Literal["operator", "grant"]


class Rule(Contract):
    """`tool` and `pattern` are shell patterns. `every_time` is for asking: no grant spares the question.
    `careful` is for allowing: it holds only for calls in which nothing worth a question was found."""

    behavior: Behavior
    tool: str = ANYTHING
    pattern: str = ANYTHING
    reason: str = ""
    every_time: bool = False
    careful: bool = False
    source: Source = "operator"
    id: str = ""
    pin: str | None = None

    @property
    def specific(self) -> bool:
        """Whether it says what in particular it is about, and may so speak for what is dangerous in it."""
        named = self.tool != "bash" and not any(wild in self.tool for wild in _WILD)
        return not self.careful and (named or self.pattern.strip("*? ") != "")


@dataclass(frozen=True, slots=True)
class Subject:
    """What of a call patterns are compared with: the whole of it, what it says anywhere, what it plainly is."""

    tool: str
    whole: tuple[str, ...]
    said: tuple[str, ...]
    plain: tuple[str, ...]


def subject(tool: str, arguments: Mapping[str, Any], workspace: Workspace | None) -> Subject:
    if tool == "bash":
        command = str(arguments.get("command", ""))
        script = parse(command)
        line = " ".join(word.text for word in script.commands[0].words) if plain(script) else None
        return Subject(tool, (command,), (command, *spoken(command)), () if line is None else (line,))
    if "path" in arguments:
        given = str(arguments["path"])
        meant = _paths(given, workspace)
        return Subject(tool, meant, (given, *meant), meant)
    text = str(arguments["url"]) if "url" in arguments else encode(arguments).decode()
    return Subject(tool, (text,), (text,), (text,))


def matches(rule: Rule, call: Subject) -> bool:
    if not fnmatchcase(call.tool, rule.tool):
        return False
    exact = literal(rule.pattern)
    if exact is not None and exact in call.whole:
        return True
    if rule.behavior == "allow":
        anything = rule.pattern == ANYTHING
        return anything or any(fnmatchcase(line, rule.pattern) for line in call.plain)
    return any(fnmatchcase(line, rule.pattern) for line in call.said)


def escaped(text: str) -> str:
    """The pattern that fits this text and no other."""
    return "".join(f"[{character}]" if character in _WILD else character for character in text)


def literal(pattern: str) -> str | None:
    """The one text a pattern fits; None if there are others."""
    out, at = "", 0
    while at < len(pattern):
        character = pattern[at]
        if character == "[" and pattern[at + 1 : at + 2] and pattern[at + 2 : at + 3] == "]":
            out, at = out + pattern[at + 1], at + 3
        elif character in _WILD:
            return None
        else:
            out, at = out + character, at + 1
    return out


def plain(script: Script) -> bool:
    """One command with literal words and nothing around it."""
    return (
        script.understood
        and len(script.commands) == 1
        and not (script.redirects or script.assignments or script.functions or script.substitutions)
        and not script.background
        and all(word.literal for word in script.commands[0].words)
    )


def _paths(given: str, workspace: Workspace | None) -> tuple[str, ...]:
    if workspace is None:
        return (given,)
    try:
        path = workspace.locate(given)
    except PathRefused:
        return (given,)
    return tuple(dict.fromkeys((workspace.show(path), str(path))))
