"""The options of `aster workflow`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse

from aster.cli.arguments import action_of, count, engine_options, json_option

SUMMARY = "run workflows of the catalog, and go on with runs"
EXAMPLES = """\
examples:
  aster workflow                       those there are
  aster workflow run review --args '{"files": ["a.py", "b.py"]}' --wait
  aster workflow runs
  aster workflow show run-4k1z         with what its agents were asked for
  aster workflow resume run-4k1z
  aster workflow cancel run-4k1z
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what each action takes."""
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    action_of(actions, "list", "the workflows there are", task=False)
    run = action_of(actions, "run", "run one", task=False)
    run.add_argument("workflow", metavar="NAME", help="the workflow")
    run.add_argument("--args", dest="given", default="{}", metavar="JSON", help="its arguments, as a JSON object")
    run.add_argument("--task", metavar="ID", help="run it in this task (default: one of its own)")
    run.add_argument("--wait", action="store_true", help="wait for the result and print it")
    runs = action_of(actions, "runs", "runs, the newest first", task=False)
    runs.add_argument("--task", metavar="ID", help="only those of this task")
    runs.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (default 50)")
    for name, summary in (("show", "a run with its journal"), ("cancel", "have a run end")):
        action_of(actions, name, summary, task=False).add_argument("run", metavar="RUN", help="the run's id")
    again = action_of(actions, "resume", "go on with a run that has not come to its result", task=False)
    again.add_argument("run", metavar="RUN", help="the run's id")
    again.add_argument("--wait", action="store_true", help="wait for the result and print it")
