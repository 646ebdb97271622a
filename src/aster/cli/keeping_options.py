"""The options of `aster backup`, `aster restore` and `aster migrate-brain`; nothing heavy is imported here."""

import argparse
from pathlib import Path

from aster.cli.arguments import json_option

BACKUP = """\
examples:
  aster backup brain-2026-11-15.backup
  DATABASE_URL=postgresql://... aster backup cluster.backup
  aster backup --portable cluster.backup      a brain file, for any brain to be restored from

Engines may go on running. What is kept is the brain as it was at one moment, in a new file that only you can read.
"""
RESTORE = """\
examples:
  aster restore brain-2026-11-15.backup
  aster restore --replace brain-2026-11-15.backup     the brain that is there is put aside (SQLite) or goes (PostgreSQL)

Stop every engine first.
"""
MIGRATE = """\
examples:
  aster migrate-brain --from ~/.aster/brain.sqlite --to postgresql://aster@db/aster
  aster migrate-brain --from postgresql://aster@db/aster --to ./brain.sqlite

Stop every engine first. The target must be empty; it holds everything afterwards, compared with the source, or nothing.
The source is left as it is.
"""


def fill_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="where to keep it; it must not exist")
    parser.add_argument("--portable", action="store_true", help="a brain file, also where pg_dump is at hand")
    json_option(parser)


def fill_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="what `aster backup` made")
    parser.add_argument("--replace", action="store_true", help="in place of the brain that is there")
    json_option(parser)


def fill_migrate(parser: argparse.ArgumentParser) -> None:
    for name, which in (("from", "the brain to carry"), ("to", "where to, an empty one")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}_place",
            required=True,
            metavar="BRAIN",
            help=f"{which}: a file or a postgresql:// URL",
        )
    json_option(parser)
