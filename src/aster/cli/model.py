"""`aster model`: the small models that run on this machine without a key, listed, fetched and deleted."""

import argparse
from pathlib import Path
from typing import Any

from aster.cli import hangup
from aster.cli.exits import Exit
from aster.cli.options import settings_of
from aster.cli.progress import progress
from aster.cli.tables import print_table
from aster.contracts.model import encode
from aster.herald.local import weights
from aster.herald.local.sources import SOURCES, Source, source_named


def command(args: argparse.Namespace) -> int:
    directory = settings_of(args).models_dir
    as_json: bool = getattr(args, "json", False)
    match args.action:
        case "install":
            return hangup.run(_install(source_named(args.name) if args.name else SOURCES[0], directory, as_json))
        case "remove":
            _remove(source_named(args.name), directory, as_json)
        case _:
            _show(directory, as_json)
    return Exit.OK


async def _install(source: Source, directory: Path, as_json: bool) -> int:
    with progress(in_bytes=True, quiet=as_json) as tell:
        path = await weights.install(source, directory, lambda done: tell(source.id, done, source.size))
        tell(source.id, source.size, source.size)
    if as_json:
        print(encode(_facts(source, directory)).decode())
    else:
        print(f"{source.id} is here: {path}")
    return Exit.OK


def _remove(source: Source, directory: Path, as_json: bool) -> None:
    freed = weights.remove(source, directory)
    if as_json:
        print(encode({"id": source.id, "freed_bytes": freed}).decode())
    elif freed:
        print(f"Removed {source.id}; {_megabytes(freed)} are free again.")
    else:
        print(f"{source.id} is not here.")


def _show(directory: Path, as_json: bool) -> None:
    if as_json:
        print(
            encode({"directory": str(directory), "models": [_facts(each, directory) for each in SOURCES]}).decode()
        )
        return
    print_table(
        ("id", "here", "size", "licence", "what it is"),
        [
            (
                source.id,
                "yes" if weights.installed(source, directory) else "no",
                _megabytes(source.size),
                source.licence,
                f"{source.title}: {source.note}",
            )
            for source in SOURCES
        ],
    )


def _facts(source: Source, directory: Path) -> dict[str, Any]:
    path = weights.installed(source, directory)
    return {
        "id": source.id,
        "title": source.title,
        "licence": source.licence,
        "note": source.note,
        "size_bytes": source.size,
        "sha256": source.sha256,
        "installed": path is not None,
        "path": None if path is None else str(path),
    }


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
