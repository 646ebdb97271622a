"""The command line as data: every command with its actions, options and what they take, read off the parser.

Completion scripts and documentation are made from this, so that they cannot know another command line than the
program does.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast


class Option(NamedTuple):
    """An option; `choices` are the words it takes if they are few, `kind` what else it takes."""

    flags: tuple[str, ...]
    summary: str
    valued: bool
    choices: tuple[str, ...] = ()
    kind: str = ""


class Command(NamedTuple):
    """A command or an action of one: the words that lead to it, what may follow, and its options."""

    path: tuple[str, ...]
    summary: str
    actions: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """What its first argument may be, if that is one of a few words."""
    kind: str
    """What its first argument is otherwise: `task`, `file`, or nothing known."""


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = (), summary: str = "") -> Iterator[Command]:
    """The parser itself, then everything under it."""
    found: list[argparse.Action] = vars(parser)["_actions"]
    under: dict[str, argparse.ArgumentParser] = {}
    actions: list[tuple[str, str]] = []
    for action in found:
        leads = cast("object", action.choices)
        if isinstance(leads, dict):
            under = cast("dict[str, argparse.ArgumentParser]", leads)
            listed: list[argparse.Action] = vars(action)["_choices_actions"]
            actions = [(one.dest, one.help or "") for one in listed]
    options = tuple(_option(action) for action in found if action.option_strings)
    first = next((action for action in found if not action.option_strings and action.choices is not under), None)
    words = tuple(map(str, first.choices)) if first is not None and first.choices and not under else ()
    kind = _kind(first) if first is not None and not under else ""
    yield Command(path, summary, tuple(actions), options, words, kind)
    for name, about in actions:
        yield from commands(under[name], (*path, name), about)


def _option(action: argparse.Action) -> Option:
    choices = tuple(map(str, action.choices or ()))
    help_ = (action.help or "").replace("%%", "%")
    return Option(tuple(action.option_strings), help_, action.nargs != 0, choices, _kind(action))


def _kind(action: argparse.Action) -> str:
    if action.type is Path or action.metavar in ("FILE", "DIR", "FOLDER"):
        return "file"
    return "task" if action.dest in ("task", "resume") else ""
