"""The options of `aster feedback`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse

EXAMPLES = """\
examples:
  aster feedback give --turn turn-4k1z --rating up
  aster feedback give --memory fact-4k1z --rating down --correction "It is blue"
  aster feedback list
  aster feedback delete signal-4k1z
"""


def fill(give: argparse.ArgumentParser, listing: argparse.ArgumentParser, gone: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    about = give.add_mutually_exclusive_group(required=True)
    about.add_argument("--turn", metavar="ID", help="of this turn")
    about.add_argument("--message", metavar="ID", help="of this message or answer (with --task)")
    about.add_argument("--memory", metavar="ID", help="of this memory")
    give.add_argument("--task", metavar="ID", help="the task the message is in")
    give.add_argument("--rating", metavar="N", type=rating, help="up, down, or a number from -1 to 1")
    give.add_argument("--text", metavar="TEXT", help="in words")
    give.add_argument("--correction", metavar="TEXT", help="what would have been right")
    listing.add_argument("--task", metavar="ID", help="only of this task")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (default 20)")
    gone.add_argument("signal", metavar="ID", help="the id that `list` shows")


def rating(text: str) -> float:
    """A rating as it is typed."""
    value = {"up": 1.0, "down": -1.0}.get(text)
    value = float(text) if value is None else value
    if not -1 <= value <= 1:
        raise argparse.ArgumentTypeError("must be up, down, or between -1 and 1")
    return value
