"""The options of `aster schedule`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from typing import Any

from aster.cli.arguments import action_of, count, engine_options, json_option

SUMMARY = "what is said to a task later, or again and again"
EXAMPLES = """\
examples:
  aster schedule                      your schedules
  aster schedule add "Sum up the news" --cron "0 9 * * mon-fri" --zone Europe/Berlin
  aster schedule add "Is it done?" --every 3600 --task report
  aster schedule add "Call Ada back" --at 2027-01-04T09:00:00+01:00 --task report
  aster schedule add "The page is up" --watch-url https://example.com/ready --every 60
  aster schedule times schedule-4k1z  what was due, and what became of it
  aster schedule run schedule-4k1z    now, besides its own times
  aster schedule edit schedule-4k1z --cron "0 8 * * mon-fri"
  aster schedule pause schedule-4k1z
  aster schedule cancel schedule-4k1z
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    parser.set_defaults(limit=20, status=None)
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = action_of(actions, "list", "your schedules, newest first", task=False)
    listing.add_argument("--status", choices=("active", "paused", "ended", "cancelled"), help="only those")
    _limit(listing)
    _fill_add(action_of(actions, "add", "make a schedule", task=False))
    edit = _one(action_of(actions, "edit", "let it say something else, or at other times", task=False))
    edit.add_argument("--prompt", metavar="PROMPT", help="what is said from now on")
    edit.add_argument("--version", type=int, metavar="N", help="only if it is still at this version")
    _times(edit)
    for name, summary in (
        ("show", "one schedule, with its next times"),
        ("run", "run it now, besides its own times"),
        ("pause", "let nothing be due for a while"),
        ("resume", "let it be due again"),
        ("cancel", "end it, with what waits of it"),
    ):
        _one(action_of(actions, name, summary, task=False))
    times = _one(action_of(actions, "times", "what was due, and what became of it", task=False))
    _limit(times)


def _fill_add(add: Any) -> None:
    add.add_argument("prompt", metavar="PROMPT", help="what is said when it is due")
    _times(add)
    add.add_argument("--task", metavar="ID", help="the task it is said to (default: every run has its own)")


def _times(add: Any) -> None:
    add.add_argument("--name", metavar="TEXT", help="what you call it")
    add.add_argument("--cron", metavar="FIELDS", help='five fields, such as "0 9 * * mon-fri", or @daily')
    add.add_argument("--zone", metavar="ZONE", help="whose clocks are meant, such as Europe/Berlin")
    add.add_argument("--every", type=int, metavar="SECONDS", help="every so many seconds; how often a watch looks")
    add.add_argument("--at", metavar="TIME", help="once (ISO 8601)")
    add.add_argument(
        "--watch-command", metavar="COMMAND", help="when this begins to end with 0 in --task's workspace"
    )
    add.add_argument("--watch-url", metavar="URL", help="when this address begins to answer")
    add.add_argument("--catch-up", choices=("latest", "all", "none"), help="which missed times are made up for")
    add.add_argument("--expires", metavar="TIME", help="not due after this (ISO 8601)")
    add.add_argument("--max-runs", type=int, metavar="N", help="end after so many runs")
    add.add_argument("--jitter", action="store_true", help="put its times off a little, always by the same")


def _one(parser: Any) -> Any:
    parser.add_argument("schedule", metavar="ID", help="the id that `list` shows")
    return parser


def _limit(parser: Any) -> None:
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (default 20)")
