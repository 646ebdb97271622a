"""The options of `aster team`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from typing import Any, Final

from aster.cli.arguments import action_of, count, engine_options, json_option

SUMMARY: Final = "who works together for a task"
EXAMPLES: Final = """\
examples:
  aster team                          the teams there are
  aster team show team-4k1z           its members, and what they are at
  aster team mail team-4k1z
  aster team say team-4k1z ada "Leave the parser as it is."
  aster team plans team-4k1z          what waits for a yes
  aster team approve team-4k1z ada
  aster team reject team-4k1z ada --feedback "Write the tests first."
  aster team stop team-4k1z ada       when it has finished its step; --now at once
  aster team stop team-4k1z           all of it
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = action_of(actions, "list", "the teams there are", task=False)
    listing.add_argument("--status", choices=("active", "stopped"))
    _limit(listing)
    _team(action_of(actions, "show", "a team with its members", task=False))
    mail = _team(action_of(actions, "mail", "what was written in a team, newest first", task=False))
    mail.add_argument("--member", metavar="NAME", help="only what this one wrote or got")
    _limit(mail)
    say = _team(action_of(actions, "say", "write to a member, to `lead` or to `all`", task=False))
    say.add_argument("to", metavar="NAME", help="whom")
    say.add_argument("text", metavar="TEXT", help="what")
    _team(action_of(actions, "plans", "the plans of its members", task=False))
    for name, summary in (("approve", "let a member go on with its plan"), ("reject", "have it make another")):
        answer = _team(action_of(actions, name, summary, task=False))
        answer.add_argument("plan", metavar="MEMBER", help="whose plan, or the request that `plans` shows")
        answer.add_argument("--feedback", metavar="TEXT", help="what the member should know")
    stop = _team(action_of(actions, "stop", "stop a member, or the whole team", task=False))
    stop.add_argument("member", metavar="MEMBER", nargs="?", help="only this one (default: everybody, at once)")
    stop.add_argument("--now", action="store_true", help="in the middle of what it does")
    stop.add_argument("--reason", default="", metavar="TEXT", help="why; the member is told")


def _team(parser: Any) -> Any:
    parser.add_argument("team", metavar="ID", help="the id that `list` shows")
    return parser


def _limit(parser: Any) -> None:
    parser.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (default 50)")
