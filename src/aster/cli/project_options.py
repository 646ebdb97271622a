"""The options of `aster project`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from typing import Any

from aster.cli.arguments import action_of, count, engine_options, json_option

SUMMARY = "work over many turns, and how far it goes by itself"
EXAMPLES = """\
examples:
  aster project                       your projects
  aster project new "Bridge" --brief "A bridge for two carts" --steps 20
  aster project add project-4k1z "Draw it" "Order stone"
  aster project show project-4k1z     with its items and what came of them
  aster project advance project-4k1z --until blocked
  aster project resume project-4k1z --answer "in granite"
  aster project pause project-4k1z --now
  aster project switch project-4k1z --task report
  aster project delete project-4k1z
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    parser.set_defaults(limit=20, status=None)
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = action_of(actions, "list", "your projects, newest first", task=False)
    states = ("ACTIVE", "PAUSED", "NEEDS_USER", "DONE", "ARCHIVED")
    listing.add_argument("--status", choices=states, help="only those (default: all but ARCHIVED)")
    listing.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (default 20)")
    new = action_of(actions, "new", "make a project, or find the one of this title", task=False)
    new.add_argument("title", metavar="TITLE", help="what it is called")
    _words(new)
    edit = _one(action_of(actions, "edit", "change what it says, or how far it may go", task=False))
    edit.add_argument("--title", metavar="TITLE", help="what it is called")
    _words(edit)
    add = _one(action_of(actions, "add", "add items, in this order", task=False))
    add.add_argument("subjects", nargs="+", metavar="SUBJECT", help="what is to be done, in one line")
    add.add_argument("--part-of", metavar="ITEM", help="as parts of this item, which comes after them")
    add.add_argument("--together", action="store_true", help="none of them waits for the one before")
    _one(action_of(actions, "show", "a project with its items and what came of them", task=False))
    advance = _one(action_of(actions, "advance", "have the next item worked on", task=False))
    advance.add_argument("--until", choices=("step", "blocked"), default="step", help="one item, or on by itself")
    pause = _one(action_of(actions, "pause", "let nothing more begin", task=False))
    pause.add_argument("--now", action="store_true", help="stop what works on it too")
    resume = _one(action_of(actions, "resume", "let it go on", task=False))
    resume.add_argument("--answer", metavar="TEXT", help="to what it asks")
    for name, summary in (("switch", "let a task work for it"), ("exit", "let a task work for it no longer")):
        _one(action_of(actions, name, summary, task=False)).add_argument("--task", required=True, metavar="ID")
    delete = _one(action_of(actions, "delete", "archive it", task=False))
    delete.add_argument("--hard", action="store_true", help="delete it for good, with all that is in it")


def _one(parser: Any) -> Any:
    parser.add_argument("project", metavar="ID", help="the id that `list` shows")
    return parser


def _words(parser: Any) -> None:
    parser.add_argument("--brief", metavar="TEXT", help="what it is about, and is to come to")
    parser.add_argument("--notes", metavar="TEXT", help="what whoever works on it has to know")
    parser.add_argument("--steps", type=int, metavar="N", help="most items it begins")
    parser.add_argument("--seconds", type=float, metavar="N", help="most seconds its turns run")
    parser.add_argument("--tool-calls", type=int, metavar="N", help="most calls of tools")
    parser.add_argument("--usd", type=float, metavar="N", help="most it spends")
