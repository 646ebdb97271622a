"""The options of `aster work`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from typing import Any

from aster.cli.arguments import action_of, count, engine_options, json_option

EXAMPLES = """\
examples:
  aster work                          what is open, the most urgent first
  aster work add "Write the parser" --priority 5
  aster work add "Test the parser" --after work-4k1z
  aster work list --ready
  aster work show work-4k1z           with its history
  aster work claim work-4k1z
  aster work done work-4k1z --result "merged"
  aster work block work-7h2m --after work-4k1z
  aster work tree parser work-4k1z    a directory of its own to do it in
  aster work remove tree-9c0a
  aster work running                  what works behind turns
  aster work output bg_3f9c1a7be2d04c55 --follow
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = action_of(actions, "list", "what is on a board", task=False)
    listing.add_argument("--status", choices=("open", "pending", "in_progress", "completed", "deleted"))
    listing.add_argument("--ready", action="store_true", help="only what can be claimed")
    listing.add_argument("--owner", metavar="NAME", help="only what this one has")
    listing.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (default 50)")
    listing.add_argument("--from", dest="beyond", metavar="ID", help="go on after this item")
    _board(listing)
    action_of(actions, "boards", "the boards there are", task=False)
    add = action_of(actions, "add", "put work on a board", task=False)
    add.add_argument("subject", metavar="SUBJECT", help="what is to be done, in one line")
    add.add_argument("--description", default="", metavar="TEXT", help="all that whoever does it has to know")
    add.add_argument("--role", metavar="ROLE", help="who may take it by itself")
    add.add_argument("--priority", type=int, default=0, metavar="N", help="the higher, the sooner (default 0)")
    _after(add)
    _board(add)
    _one(action_of(actions, "show", "an item with its history", task=False))
    for name, summary in (("block", "let an item wait for others"), ("unblock", "let it wait no longer")):
        _after(_one(action_of(actions, name, summary, task=False)), required=True)
    _owner(_one(action_of(actions, "claim", "take an item", task=False)))
    done = _override(_owner(_one(action_of(actions, "done", "an item is completed", task=False))))
    done.add_argument("--result", metavar="TEXT", help="what came of it")
    release = _override(_owner(_one(action_of(actions, "release", "give an item back", task=False))))
    release.add_argument("--reason", metavar="TEXT", help="why")
    _override(_one(action_of(actions, "delete", "take an item off its board", task=False)))
    _one(action_of(actions, "reopen", "put an item back that was completed or deleted", task=False))
    _trees(actions)
    _running(actions)


def _running(actions: Any) -> None:
    running = action_of(actions, "running", "commands and agents that work behind turns", task=False)
    running.add_argument(
        "--status", choices=("active", "running", "stalled", "completed", "failed", "killed", "timeout", "lost")
    )
    running.add_argument("--all", action="store_true", help="also those that have ended")
    running.add_argument("--kind", choices=("bash", "agent"), help="only commands, or only agents")
    running.add_argument("--task", dest="of_task", metavar="TASK", help="only those that work for this task")
    running.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (default 50)")
    running.add_argument("--from", dest="beyond", metavar="PLACE", help="go on there")
    output = action_of(actions, "output", "what one of them has said", task=False)
    output.add_argument("runtime", metavar="ID", help="the id that `running` shows")
    output.add_argument("--follow", action="store_true", help="until it has ended")
    output.add_argument("--offset", type=int, default=0, metavar="N", help="from this character on")
    kill = action_of(actions, "kill", "end one of them, with all it has started", task=False)
    kill.add_argument("runtime", metavar="ID", help="the id that `running` shows")


def _trees(actions: Any) -> None:
    listing = action_of(actions, "trees", "the git worktrees that items are done in", task=False)
    listing.add_argument("--status", choices=("creating", "active", "kept", "removing", "removed", "failed"))
    listing.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (default 50)")
    listing.add_argument("--from", dest="beyond", metavar="ID", help="go on after this one")
    making = action_of(actions, "tree", "make a git worktree for an item", task=False)
    making.add_argument("name", metavar="NAME", help="what it is called; its branch is wt/NAME")
    _one(making)
    making.add_argument("--repository", default=".", metavar="DIR", help="where in the workspace (default: itself)")
    making.add_argument("--base", metavar="REVISION", help="what it begins at (default: what is checked out)")
    making.add_argument(
        "--task", dest="in_task", metavar="TASK", help="whose workspace, where each task has its own"
    )
    for name, summary in (("keep", "a worktree is to stay"), ("remove", "take a worktree away; its branch stays")):
        chosen = action_of(actions, name, summary, task=False)
        chosen.add_argument("tree", metavar="ID", help="the id that `trees` shows")
        if name == "remove":
            chosen.add_argument("--discard", action="store_true", help="also what no commit has")


def _one(parser: Any) -> Any:
    parser.add_argument("item", metavar="ID", help="the id that `list` shows")
    return parser


def _owner(parser: Any) -> Any:
    parser.add_argument("--owner", metavar="NAME", help="who has it (default: you)")
    return parser


def _override(parser: Any) -> Any:
    parser.add_argument("--override", action="store_true", help="also when somebody else has it")
    return parser


def _after(parser: Any, *, required: bool = False) -> None:
    parser.add_argument(
        "--after",
        action="append",
        default=[],
        required=required,
        metavar="ID",
        help="what has to be completed before (may be repeated)",
    )


def _board(parser: Any) -> None:
    parser.add_argument("--board", default="main", metavar="NAME", help="which board (default: main)")
