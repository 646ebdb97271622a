"""Searching file contents. The expression is the model's, so it runs in a process that can be killed, as the tools'
identity, on a directory that was opened safely. Kept output is searched in the same way, from memory."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox import process
from aster.sandbox.backend import Completed
from aster.sandbox.limits import Limits
from aster.sandbox.watchdog import Watchdog
from aster.utility_directory import grep_worker
from aster.utility_directory.names import plain, shown
from aster.utility_directory.needles import needles
from aster.utility_directory.path_tools import ReadingTool, kept_id
from aster.utility_directory.patterns import alternatives
from aster.utility_directory.text_files import NotAFile, on_file
from aster.utility_directory.tool import Input, ToolContext, input_schema

MAX_MATCHES = 100
_FILE_BYTES = 20_000_000
_ANSWER_BYTES = 16_000_000


class Grep(ReadingTool):
    definition = ToolDef(
        name="grep",
        description=(
            "Search the contents of files in the workspace with a Python regular expression and list the matching "
            f"lines as path:line: text, at most {MAX_MATCHES}. Binary files and the directories .git, "
            "node_modules, __pycache__ and .venv are left out. ^ and $ match at each line. A path `artifact:ID` "
            "searches the kept output of an earlier call."
        ),
        input_schema=input_schema(
            ("pattern",),
            pattern={"type": "string", "minLength": 1, "maxLength": 2000, "description": "The regular expression."},
            path={
                "type": "string",
                "minLength": 1,
                "description": "A file or directory; the workspace if not given.",
            },
            glob={
                "type": "string",
                "maxLength": 500,
                "description": "Only files like this, for example *.{py,pyi}.",
            },
            ignore_case={"type": "boolean", "description": "Take upper and lower case as the same."},
            context={
                "type": "integer",
                "minimum": 0,
                "maximum": 20,
                "description": "How many lines to show before and after each match.",
            },
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        opened: list[tuple[int, Path | None]] = []

        def start(path: Path) -> ToolOutcome:
            fd = context.workspace.open(path, os.O_RDONLY)
            opened.append((fd, path))
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise NotAFile(f"{shown(context.workspace, path)} is not a plain file.")
            return ToolOutcome.text("")

        artifact = kept_id(given)
        try:
            if artifact is None:
                ready = await on_file(context, given.get("path", "."), start)
            else:
                ready = _in_memory(await context.artifact(artifact), given["path"], opened)
            return await _search(given, context, *opened[0]) if ready.ok else ready
        finally:
            for fd, _ in opened:
                os.close(fd)


def _in_memory(data: bytes | None, name: str, opened: list[tuple[int, Path | None]]) -> ToolOutcome:
    """An artifact as a file that has no name anywhere."""
    if data is None:
        return ToolOutcome.error(f"Error: there is no {plain(name)}.", reason="not_found")
    fd = os.memfd_create("artifact")
    opened.append((fd, None))
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return ToolOutcome.text("")


async def _search(given: Input, context: ToolContext, fd: int, path: Path | None) -> ToolOutcome:
    identity, seconds = context.sandbox.identity, context.limits.search_seconds
    hidden = context.workspace.hidden if path is not None else ()
    ignore_case = given.get("ignore_case", False)
    request = {
        "fd": fd,
        "hidden": [str(place.relative_to(path)) for place in hidden if path and place.is_relative_to(path)],
        "pattern": given["pattern"],
        "needles": needles(given["pattern"], ignore_case=ignore_case),
        "ripgrep": shutil.which("rg"),
        "globs": alternatives(given["glob"]) if given.get("glob") else [],
        "ignore_case": ignore_case,
        "context": given.get("context", 0),
        "most": MAX_MATCHES,
        "file_bytes": _FILE_BYTES,
        "seconds": ceil(seconds),
        "uid": identity.uid if identity else None,
        "gid": identity.gid if identity else None,
    }
    # The interpreter may lie where only the engine can read it, so the worker starts as the engine and steps down.
    argv = (sys.executable, "-I", "-S", grep_worker.__file__, json.dumps(request))
    done = await process.run(
        partial(process.spawn, argv, identity=None, pass_fds=(fd,)),
        timeout_seconds=seconds,
        limits=(_ANSWER_BYTES, 4096),
        watchdog=Watchdog(Limits(), context.workspace.cwd),
    )
    failed = _failure(done, seconds)
    return failed or _outcome(
        json.loads(done.stdout), partial(_named, given, context, path), given.get("context", 0)
    )


def _failure(done: Completed, seconds: float) -> ToolOutcome | None:
    if done.timed_out or done.signal is not None:
        text = f"Error: the search was stopped after {seconds:g} s. Use a simpler expression or a narrower path."
        return ToolOutcome.error(text, reason="timeout")
    if done.exit_code != 0:
        return ToolOutcome.error(f"Error: the search failed: {done.stderr[-500:]}", reason="io_error")
    if done.truncated:
        return ToolOutcome.error("Error: too much was found. Use a narrower search.", reason="too_large")
    return None


def _named(given: Input, context: ToolContext, path: Path | None, below: str) -> str:
    return plain(given["path"]) if path is None else shown(context.workspace, path / below)


def _outcome(answer: dict[str, Any], named: Callable[[str], str], context: int) -> ToolOutcome:
    if "invalid" in answer:
        text = f"Error: not a valid regular expression: {answer['invalid']}. Escape characters meant literally."
        return ToolOutcome.error(text, reason="invalid_input")
    lines: list[str] = []
    for below, shown_lines in answer["found"]:
        name, last = named(below), None
        for number, matches, text in shown_lines:
            if last is not None and number > last + 1 and context:
                lines.append("--")
            mark = ":" if matches else "-"
            lines.append(f"{name}{mark}{number}{mark} {text}")
            last = number
    notes: list[str] = []
    if answer["more"]:
        notes.append(f"[the first {answer['matches']} matches; there may be more, use a narrower search]")
    if answer["too_large"]:
        notes.append(f"[too large to search: {', '.join(map(named, answer['too_large'][:5]))}]")
    body = "\n".join([*(lines or ["No matches."]), *notes])
    data = {"matches": answer["matches"], "files": len(answer["found"]), "more": answer["more"]}
    return ToolOutcome.text(body, {**data, "narrowed": answer["narrowed"]})
