"""Finding files by what they are: name, kind, size, age. Newest first unless asked otherwise, because the file that
was just made is the one most often looked for."""

import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import Workspace
from aster.utility_directory.names import shown
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.patterns import alternatives, matcher
from aster.utility_directory.text_files import on_file
from aster.utility_directory.tool import Input, ToolContext, input_schema
from aster.utility_directory.walk import DIRECTORY, Enough, Walk

MAX_FOUND = 100
_SIZE = {"type": "integer", "minimum": 0}
_HOURS = {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000}
_KINDS = {"file": stat.S_ISREG, "directory": stat.S_ISDIR, "link": stat.S_ISLNK}


class Find(LookingTool):
    definition = ToolDef(
        name="find",
        description=(
            "Find files at any depth by name, size or age, the newest first. Each line has the time of the last "
            f"change (UTC), the size in bytes and the path; at most {MAX_FOUND}. To match whole paths use glob, to "
            "search in contents use grep."
        ),
        input_schema=input_schema(
            ("name",),
            name={
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "The name, with * and ? and {a,b}: *.log finds logs, * everything.",
            },
            path={
                "type": "string",
                "minLength": 1,
                "description": "The directory to look in; the workspace if not given.",
            },
            ignore_case={"type": "boolean", "description": "Take upper and lower case as the same."},
            type={"type": "string", "enum": list(_KINDS), "description": "Only these; any kind if not given."},
            min_bytes={**_SIZE, "description": "Files of at least this size."},
            max_bytes={**_SIZE, "description": "Files of at most this size."},
            newer_than_hours={**_HOURS, "description": "Changed within the last so many hours."},
            older_than_hours={**_HOURS, "description": "Not changed for so many hours."},
            sort={"type": "string", "enum": ["newest", "largest", "name"], "description": "newest if not given."},
            limit={"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "description": "The most to list."},
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if "/" in given["name"]:
            text = "Error: name is the name alone, without a slash. Put directories in path, or use glob."
            return ToolOutcome.error(text, reason="invalid_input")
        return await on_file(context, given.get("path", "."), partial(_find, context.workspace, given))


class _Found(NamedTuple):
    path: Path
    info: os.stat_result


def _find(workspace: Workspace, given: Input, base: Path) -> ToolOutcome:
    walk, found = Walk(workspace), list[_Found]()
    fd = workspace.open(base, DIRECTORY)
    try:
        wanted = _Wanted(given)
        for item in _below(walk, fd, base, wanted):
            found.append(item)  # one by one: it stays found when the walk is cut short
    except Enough:
        pass
    finally:
        os.close(fd)
    limit: int = given.get("limit", MAX_FOUND)
    lines = [_line(workspace, item) for item in nsmallest(limit, found, key=_ORDERS[given.get("sort", "newest")])]
    if len(found) > limit:
        lines.append(f"[{limit} of {len(found):,}; narrow the search to see others]")
    if walk.cut:
        lines.append("[the tree is too large: not all of it was looked at; give a deeper path]")
    data = {"found": len(found), "complete": not walk.cut and len(found) <= limit}
    return ToolOutcome.text("\n".join(lines if found else ["Nothing matches.", *lines]), data)


class _Wanted:
    """What a file must be like."""

    def __init__(self, given: Input) -> None:
        now = time.time()
        self._names = [
            matcher(choice, hidden=True, ignore_case=given.get("ignore_case", False))
            for choice in alternatives(given["name"])
        ]
        self._is_kind = _KINDS.get(given.get("type", ""))
        self._sized = "min_bytes" in given or "max_bytes" in given
        self._smallest = given.get("min_bytes", 0)
        self._largest = given.get("max_bytes", float("inf"))
        self._newer = now - given["newer_than_hours"] * 3600 if "newer_than_hours" in given else float("-inf")
        self._older = now - given["older_than_hours"] * 3600 if "older_than_hours" in given else float("inf")

    def named(self, name: str) -> bool:
        return any(pattern.match(name) for pattern in self._names)

    def fits(self, info: os.stat_result) -> bool:
        if self._is_kind is not None and not self._is_kind(info.st_mode):
            return False
        if self._sized and not (stat.S_ISREG(info.st_mode) and self._smallest <= info.st_size <= self._largest):
            return False
        return self._newer <= info.st_mtime <= self._older


def _below(walk: Walk, fd: int, directory: Path, wanted: _Wanted) -> Iterator[_Found]:
    for entry in walk.entries(fd):
        path = directory / entry.name
        if wanted.named(entry.name) and walk.visible(path, entry):
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if wanted.fits(info):
                yield _Found(path, info)
        if entry.is_dir(follow_symlinks=False):
            with walk.below(fd, path) as opened:
                if opened is not None:
                    yield from _below(walk, opened, path, wanted)


def _by_name(item: _Found) -> tuple[float, Path]:
    return 0, item.path


def _newest(item: _Found) -> tuple[float, Path]:
    return -item.info.st_mtime, item.path


def _largest(item: _Found) -> tuple[float, Path]:
    return -item.info.st_size, item.path


_ORDERS = {"newest": _newest, "largest": _largest, "name": _by_name}


def _line(workspace: Workspace, item: _Found) -> str:
    try:
        changed = f"{datetime.fromtimestamp(item.info.st_mtime, UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        changed = "(odd time)"
    mode = item.info.st_mode
    mark = "/" if stat.S_ISDIR(mode) else " (link)" if stat.S_ISLNK(mode) else ""
    size = f"{item.info.st_size:,}" if stat.S_ISREG(mode) else "-"
    return f"{changed}  {size:>10}  {shown(workspace, item.path)}{mark}"
