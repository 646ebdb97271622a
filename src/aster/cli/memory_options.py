"""The options of `aster memory`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse
from pathlib import Path

from aster.cli.arguments import command, count, engine_options, json_option

EXAMPLES = """\
examples:
  aster memory search "where do I live?"
  aster memory add "My dog is called Max" --subject dog --predicate name
  aster memory list --store knowledge
  aster memory forget fact-4k1z              shows what goes with it, then asks
  aster memory correct fact-4k1z "My dog is called Moritz"
  aster memory soul --history
  aster memory social Anna Ben               what connects them
  aster memory export memory.json
  aster memory import memory.json
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the actions and what each takes."""
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    stores = ("episodes", "knowledge", "social", "lessons", "profile", "documents")
    for name, summary in (
        ("search", "find memories by meaning and words"),
        ("list", "the newest memories"),
        ("show", "one memory, where it came from, and what it was before"),
        ("add", "remember something"),
        ("forget", "forget memories and all that came from them"),
        ("export", "all memories as one JSON document"),
        ("import", "take in an exported memory"),
        ("stats", "how much is remembered"),
        ("correct", "put right what is remembered wrongly"),
        ("soul", "who the agent is"),
        ("social", "how people and things hang together"),
        ("changes", "what replaced what, newest first"),
    ):
        action = command(actions, name, summary)
        engine_options(action)
        json_option(action)
        if name in ("search", "list", "social", "changes"):
            action.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (default 20)")
        match name:
            case "search":
                action.add_argument("query", help="what to look for")
                action.add_argument("--store", choices=stores, help="only there")
            case "list":
                action.add_argument("--store", choices=(*stores, "soul", "working"), help="only there")
                action.add_argument("--task", metavar="ID", help="only what came from this task")
                action.add_argument("--all", action="store_true", help="also what something else took the place of")
            case "show":
                action.add_argument("record", metavar="ID", help="the memory")
            case "add":
                action.add_argument("text", help="what to remember; - reads it from standard input")
                action.add_argument("--kind", choices=("fact", "episode"), default="fact", help="(default fact)")
                action.add_argument("--subject", default="", help="what a fact is about")
                action.add_argument("--predicate", default="", help="what of it; a new fact replaces the old one")
            case "forget":
                action.add_argument("record", metavar="ID", nargs="*", help="the memories")
                action.add_argument("--task", metavar="ID", help="all that came from this task")
                action.add_argument("--delete-tasks", action="store_true", help="also the tasks that say it")
                action.add_argument("--yes", action="store_true", help="do not ask")
            case "export":
                action.add_argument("file", type=Path, nargs="?", metavar="FILE", help="(default: standard output)")
            case "import":
                action.add_argument("file", type=Path, metavar="FILE", help="the exported memory")
            case "stats":
                action.add_argument("--wait", action="store_true", help="until every memory has its vector")
            case "correct":
                action.add_argument("record", metavar="ID", help="the memory")
                action.add_argument("text", nargs="?", help="what is right; - reads it from standard input")
                action.add_argument(
                    "--set", action="append", default=[], metavar="FIELD=VALUE", help="one of its fields"
                )
            case "soul":
                action.add_argument("--history", action="store_true", help="every version, with where it came from")
            case "social":
                action.add_argument("about", nargs="+", metavar="NAME", help="people or things")
                action.add_argument("--hops", type=int, choices=(1, 2, 3), default=3, help="how far (default 3)")
            case _:
                pass
