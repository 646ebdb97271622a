"""The entry point: read the arguments, load the one command they name, end with its exit code.

A failure is one sentence on standard error; the traceback is for those who ask for it with ASTER_DEBUG=1.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from aster.cli.exits import Exit
from aster.cli.parser import build_parser, parse

__all__ = ["build_parser", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `aster` with these arguments (those of the process by default)."""
    args = parse(argv)
    try:
        code = int(import_module(f"aster.cli.{args.command.replace('-', '_')}").command(args))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return Exit.CANCELLED
    except BrokenPipeError:
        # The reader of our output has gone; nothing can be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # the boundary between the program and the person
        if os.environ.get("ASTER_DEBUG") == "1":
            raise
        return _complain(error)


def _complain(error: Exception) -> int:
    from aster.cli.screen.clean import clean
    from aster.contracts.errors import EngineError

    if isinstance(error, EngineError):
        print(f"aster: {clean(error.message)}", file=sys.stderr)
    else:
        sentence = str(error) or type(error).__name__
        print(f"aster: {clean(sentence)} (ASTER_DEBUG=1 shows where it comes from)", file=sys.stderr)
    return Exit.FAILED
