"""What the commands that carry brains have in common: which brain is meant."""

import argparse

from aster.brain.beside import place_of
from aster.cli.options import settings_of


def brain_of(args: argparse.Namespace) -> str:
    """The place of the brain that is meant: that of the options, or of the settings."""
    settings = settings_of(args)
    return str(settings.sqlite_db_path if getattr(args, "db", None) else place_of(settings))
