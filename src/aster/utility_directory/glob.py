"""Finding files by name. The walk never follows a link, so no match lies outside the workspace."""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from pathlib import Path

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import PathRefused, Workspace, open_beside
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.patterns import alternatives, magic, matcher, segments
from aster.utility_directory.text_files import on_file
from aster.utility_directory.tool import Input, ToolContext, input_schema

MAX_PATHS = 500
_MAX_ENTRIES = 200_000
_MAX_SECONDS = 10.0
_SKIPPED = frozenset((".git", ".hg", ".svn"))
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


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


@dataclass(slots=True)
class _Budget:
    """How much more of a huge tree may be looked at."""

    entries: int = _MAX_ENTRIES
    until: float = field(default_factory=lambda: time.monotonic() + _MAX_SECONDS)

    def spent(self) -> bool:
        self.entries -= 1
        return self.entries < 0 or (self.entries % 1024 == 0 and time.monotonic() > self.until)


class _Enough(Exception):
    """The budget is spent or the list is full."""


def _list(workspace: Workspace, pattern: str, base: Path) -> ToolOutcome:
    found: set[str] = set()
    budget = _Budget()
    stopped = False
    try:
        for choice in alternatives(pattern):
            for path in _matches(workspace, choice, base, budget):
                found.add(path)
                if len(found) >= MAX_PATHS:
                    raise _Enough
    except _Enough:
        stopped = True
    if not found:
        return ToolOutcome.text(
            "No path matches." + (" The search was cut short." if stopped else ""), {"paths": 0}
        )
    note = ["[there are more; use a narrower pattern]"] if stopped else []
    return ToolOutcome.text("\n".join([*sorted(found), *note]), {"paths": len(found), "complete": not stopped})


def _matches(workspace: Workspace, pattern: str, base: Path, budget: _Budget) -> Iterator[str]:
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
    directory = workspace.resolve(start)
    try:
        fd = workspace.open(directory, _DIRECTORY)
    except FileNotFoundError:
        return
    try:
        for path, is_directory in _walk(fd, directory, parts[len(fixed) :], budget):
            if workspace.contains(Path(os.path.realpath(path))):
                yield workspace.show(path) + ("/" if is_directory else "")
    finally:
        os.close(fd)


def _walk(fd: int, directory: Path, parts: list[str], budget: _Budget) -> Iterator[tuple[Path, bool]]:
    if not parts:
        return
    head, rest = parts[0], parts[1:]
    if head == "**" and rest:
        yield from _walk(fd, directory, rest, budget)
    name_matches = re.compile(r"(?!\.)") if head == "**" else matcher(head)
    for entry in _entries(fd, budget):
        if not name_matches.match(entry.name):
            continue
        is_directory = entry.is_dir(follow_symlinks=False)
        if not rest and not (head == "**" and is_directory):
            yield directory / entry.name, is_directory
        if is_directory and (rest or head == "**") and entry.name not in _SKIPPED:
            below = open_beside(fd, entry.name, _DIRECTORY)
            try:
                yield from _walk(below, directory / entry.name, parts if head == "**" else rest, budget)
            finally:
                os.close(below)


def _entries(fd: int, budget: _Budget) -> list[os.DirEntry[str]]:
    out: list[os.DirEntry[str]] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            if budget.spent():
                raise _Enough
            out.append(entry)
    return sorted(out, key=lambda entry: entry.name)
