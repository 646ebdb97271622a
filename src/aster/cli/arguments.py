"""Arguments that many commands have, and how a command is described; nothing heavy is imported here."""

import argparse
from typing import Any


def command(commands: Any, name: str, summary: str, examples: str = "") -> Any:
    """A command or an action of one, with its help."""
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def engine_options(parser: argparse.ArgumentParser) -> None:
    """Where the engine is, and the key to it."""
    later = argparse.SUPPRESS
    parser.add_argument("--url", default=later, help="the engine's address (ENGINE_URL; default: this machine's)")
    parser.add_argument("--key", default=later, help="the engine's key (ENGINE_KEY)")


def json_option(parser: argparse.ArgumentParser, what: str = "print JSON") -> None:
    """Answers for programs."""
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=what)


def action_of(actions: Any, name: str, summary: str, *, task: bool = True) -> Any:
    """An action that asks an engine for something, of a task unless it is said otherwise."""
    parser = command(actions, name, summary)
    if task:
        parser.add_argument("task", metavar="ID", help="the task")
    engine_options(parser)
    json_option(parser)
    return parser


def count(text: str) -> int:
    """How many of something are wanted."""
    value = int(text)
    if not 1 <= value <= 200:
        raise argparse.ArgumentTypeError("must be between 1 and 200")
    return value
