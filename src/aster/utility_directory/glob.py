"""Finding files by name. The walk never follows a link, so no match lies outside the workspace."""

import os
import re
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import PathRefused, Workspace
from aster.utility_directory.names import shown
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.patterns import alternatives, magic, matcher, segments
from aster.utility_directory.text_files import on_file
from aster.utility_directory.tool import Input, ToolContext, input_schema
from aster.utility_directory.walk import DIRECTORY, Enough, Walk

MAX_PATHS = 500


class Glob(LookingTool):
    definition = ToolDef(
        name="glob",
        description=(
            "List files and directories of the workspace whose path matches a pattern: * and ? within a name, ** "
            "for any depth, {a,b} for alternatives. Example: src/**/*.{ts,tsx}. Directories end with a slash. At "
            f"most {MAX_PATHS} paths are listed."
        ),
        input_schema=input_schema(
            ("pattern",),
            pattern={"type": "string", "minLength": 1, "description": "The pattern, relative to path."},
            path={
                "type": "string",
                "minLength": 1,
                "description": "The directory to look in; the workspace if not given.",
            },
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        work = partial(_list, context.workspace, given["pattern"])
        return await on_file(context, given.get("path", "."), work)


def _list(workspace: Workspace, pattern: str, base: Path) -> ToolOutcome:
    found: set[str] = set()
    walk = Walk(workspace)
    try:
        for choice in alternatives(pattern):
            for path in _matches(walk, choice, base):
                found.add(path)
                if len(found) >= MAX_PATHS:
                    walk.cut = True
                    raise Enough
    except Enough:
        pass
    if not found:
        return ToolOutcome.text(
            "No path matches." + (" The search was cut short." if walk.cut else ""), {"paths": 0}
        )
    note = ["[there are more; use a narrower pattern]"] if walk.cut else []
    return ToolOutcome.text("\n".join([*sorted(found), *note]), {"paths": len(found), "complete": not walk.cut})


def _matches(walk: Walk, pattern: str, base: Path) -> Iterator[str]:
    """Leading parts without wildcards are a path like any other, and are resolved and judged like one."""
    parts = segments(pattern)
    if ".." in parts:
        raise PathRefused("A pattern cannot contain `..`; give another `path` instead.")
    fixed = list(takewhile(lambda part: not magic(part), parts[:-1]))
    start = "/".join(fixed) or "."
    if pattern.startswith("/"):
        start = f"/{'/'.join(fixed)}"
    elif not pattern.startswith("~/"):
        start = f"{base}/{start}"
    directory = walk.workspace.resolve(start)
    try:
        fd = walk.workspace.open(directory, DIRECTORY)
    except FileNotFoundError:
        return
    try:
        for path, is_directory in _below(walk, fd, directory, parts[len(fixed) :]):
            yield shown(walk.workspace, path) + ("/" if is_directory else "")
    finally:
        os.close(fd)


def _below(walk: Walk, fd: int, directory: Path, parts: list[str]) -> Iterator[tuple[Path, bool]]:
    if not parts:
        return
    head, rest = parts[0], parts[1:]
    if head == "**" and rest:
        yield from _below(walk, fd, directory, rest)
    name_matches = re.compile(r"(?!\.)") if head == "**" else matcher(head)
    for entry in walk.entries(fd):
        if not name_matches.match(entry.name):
            continue
        path, is_directory = directory / entry.name, entry.is_dir(follow_symlinks=False)
        if not rest and not (head == "**" and is_directory) and walk.visible(path, entry):
            yield path, is_directory
        if is_directory and (rest or head == "**"):
            with walk.below(fd, path) as opened:
                if opened is not None:
                    yield from _below(walk, opened, path, parts if head == "**" else rest)
