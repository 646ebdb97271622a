"""The options of `aster replay` and `aster export-test`, beside the parser that has all commands; nothing heavy is
imported here."""

import argparse
from pathlib import Path

from aster.cli.arguments import engine_options, json_option

REPLAY = """\
examples:
  aster replay task-4k1z                        the newest turn again, as it was
  aster replay task-4k1z --model gpt-5-mini     with another model
  aster replay task-4k1z --from-seq 42          from the middle on
  aster replay task-4k1z --memory none          as if nothing were remembered

Tools are not run: every call gets the result that is on record.
exit codes: 0 the same calls and the same answer, 1 not the same, 2 usage
"""
EXPORT = """\
examples:
  aster export-test task-4k1z                   the newest turn, into this directory
  aster export-test task-4k1z --turn turn-9x2 -o tests/recorded
  aster export-test task-4k1z --redact Acme --redact "Jane Doe"

Writes test_NAME.py and NAME.recording.json. The test needs aster-engine and pytest, no network and no key;
with ASTER_TEST_MODEL=NAME it asks that model, as the usual LLM_ settings say.
"""


def fill_replay(parser: argparse.ArgumentParser) -> None:
    _turn(parser)
    parser.add_argument(
        "--from-seq", type=int, metavar="SEQ", help="begin at the last model call at or before this"
    )
    parser.add_argument("--model", metavar="NAME", help="ask this model")
    parser.add_argument("--agent", metavar="NAME", help="who is to answer")
    parser.add_argument("--instructions", metavar="TEXT", help="in place of those the turn came with")
    parser.add_argument("--memory", choices=("recorded", "none", "current"), help="what memory has for it")
    parser.add_argument("--without", action="append", metavar="ID", default=[], help="leave this memory out")
    parser.add_argument("--unrecorded", choices=("refuse", "stop"), help="what becomes of calls not on record")
    parser.add_argument("--max-usd", type=float, metavar="USD", help="end when it has cost so much")
    engine_options(parser)
    json_option(parser)


def fill_export(parser: argparse.ArgumentParser) -> None:
    _turn(parser)
    parser.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="where to (default: here)")
    parser.add_argument("--name", metavar="NAME", help="what the test is called (default: after the task)")
    parser.add_argument("--redact", action="append", metavar="WORD", default=[], help="take this out everywhere")
    engine_options(parser)


def _turn(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="the task")
    parser.add_argument("--turn", metavar="ID", help="which turn (default: the newest)")
