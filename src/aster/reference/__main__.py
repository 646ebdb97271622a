"""`python -m aster.reference --write | --check`: write the reference pages, or say which of them are stale."""

import argparse
import sys
from pathlib import Path

from aster.reference import pages


def main(argv: list[str] | None = None) -> int:
    """0 when every page is true, 1 when one is stale."""
    parser = argparse.ArgumentParser(prog="python -m aster.reference", description="Reference pages from the code.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="bring the pages up to date")
    action.add_argument("--check", action="store_true", help="fail when a page is stale")
    parser.add_argument("--docs", type=Path, default=Path("docs/reference"), help="where the pages are")
    args = parser.parse_args(argv)
    if args.write:
        for name in pages.write(args.docs):
            sys.stdout.write(f"wrote {args.docs / name}\n")
        return 0
    stale = pages.check(args.docs)
    for name in stale:
        sys.stderr.write(f"{args.docs / name} is stale; run python -m aster.reference --write\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
