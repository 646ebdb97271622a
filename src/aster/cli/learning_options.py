"""The options of `aster learning`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from typing import Any

from aster.cli.arguments import action_of, count, engine_options, json_option

EXAMPLES = """\
examples:
  aster learning                      how learning stands
  aster learning run                  learn now from what has happened
  aster learning changesets           what was learned, newest first
  aster learning show batch-4k1z      as a diff, with the words it rests on
  aster learning revert batch-4k1z
  aster learning revert --night 2026-11-15
  aster learning self-play begin --cluster sql
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    action_of(actions, "status", "how it stands", task=False)
    run = action_of(actions, "run", "learn now", task=False)
    run.add_argument("works", nargs="*", metavar="WORK", help="which; all when none is named")
    run.add_argument("--no-wait", action="store_true", help="begin, and do not wait for the end")
    listing = action_of(actions, "changesets", "what was learned, newest first", task=False)
    listing.add_argument("--status", choices=("proposed", "applied", "rejected", "reverted", "empty"))
    listing.add_argument("--night", metavar="DAY", help="only of this day (2026-11-15, UTC)")
    _limit(listing)
    _one(action_of(actions, "show", "a changeset as a diff", task=False))
    for name, summary in (("accept", "do what a changeset proposes"), ("reject", "refuse what it proposes")):
        _some(_one(action_of(actions, name, summary, task=False)))
    revert = action_of(actions, "revert", "take back what was learned", task=False)
    revert.add_argument("changeset", nargs="?", metavar="ID", help="the changeset")
    revert.add_argument("--night", metavar="DAY", help="everything of this day (UTC) instead")
    _some(revert)
    trials = action_of(actions, "trials", "learned things that have to prove themselves", task=False)
    trials.add_argument("trial", nargs="?", metavar="ID", help="one trial, with its runs")
    _limit(trials)
    playing = action_of(actions, "self-play", "challenges that the agent sets itself", task=False)
    playing.add_argument("what", nargs="?", choices=("show", "begin", "stop"), default="show", help="default: show")
    playing.add_argument("--cluster", metavar="NAME", help="begin: in which field; `show` lists them")
    playing.add_argument("--cycles", type=count, default=1, metavar="N", help="begin: how many (default 1)")
    playing.add_argument("--wait", action="store_true", help="begin: wait for the end")
    _limit(action_of(actions, "learned", "what was learned about you, and from where", task=False))


def _one(parser: Any) -> Any:
    parser.add_argument("changeset", metavar="ID", help="the id that `changesets` shows")
    return parser


def _some(parser: Any) -> None:
    parser.add_argument(
        "--place", action="append", type=int, default=[], metavar="N", help="only this item (may be repeated)"
    )


def _limit(parser: Any) -> None:
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (default 20)")
