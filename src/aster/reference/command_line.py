"""The command-line page, from the parser itself; written without argparse's own layout, which varies by version."""

import argparse
from collections.abc import Iterator
from typing import Any, cast

from aster.cli.main import build_parser
from aster.reference.markdown import code, fenced, page, table

Parser = argparse.ArgumentParser


def render() -> str:
    return page("Command line", *(_command(parser, depth) for parser, depth in _walk(build_parser(), 2)))


def _walk(parser: Parser, depth: int) -> Iterator[tuple[Parser, int]]:
    yield parser, depth
    for action in _actions(parser):
        for child in _children(action):
            yield from _walk(child, depth + 1)


def _command(parser: Parser, depth: int) -> str:
    arguments = [action for action in _actions(parser) if action.dest != "help"]
    rows = [(_spelling(action), _about(action)) for action in arguments]
    parts = (
        f"{'#' * depth} {parser.prog}",
        parser.description or "",
        fenced(_usage(parser, arguments), "console"),
        table(("argument", "meaning"), [row for row in rows if row[0]]),
        fenced(parser.epilog) if parser.epilog else "",
    )
    return "\n\n".join(part for part in parts if part)


def _usage(parser: Parser, arguments: list[argparse.Action]) -> str:
    options = " [options]" if any(action.option_strings for action in arguments) else ""
    places = [_place(action) for action in arguments if not action.option_strings]
    return " ".join([f"{parser.prog}{options}", *places])


def _place(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return name if action.required else f"[{name}]"


def _spelling(action: argparse.Action) -> str:
    if _children(action):
        return ""
    if not action.option_strings:
        return code(_place(action))
    value = ""
    if action.nargs != 0:
        choices = [str(choice) for choice in cast("list[Any]", action.choices or [])]
        value = " " + ("|".join(choices) or str(action.metavar or action.dest.upper()))
    return ", ".join(code(f"{option}{value}") for option in action.option_strings)


def _about(action: argparse.Action) -> str:
    about = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
    about = "print the version" if action.nargs == 0 and action.dest == "version" else about
    return f"{about} (required)" if action.option_strings and action.required else about


def _children(action: argparse.Action) -> list[Parser]:
    """The parsers of an action's sub-commands."""
    choices = action.choices
    if not isinstance(choices, dict):
        return []
    return [choice for choice in cast("dict[str, Any]", choices).values() if isinstance(choice, Parser)]


def _actions(parser: Parser) -> list[argparse.Action]:
    # argparse has no public way to ask a parser what it takes.
    return parser._actions  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
