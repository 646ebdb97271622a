"""Searching file contents. The expression is the model's, so it runs in a process that can be killed, as the tools'
identity, on a directory that was opened safely."""

import json
import os
import sys
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox import process
from aster.sandbox.backend import Completed
from aster.utility_directory import grep_worker
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.patterns import alternatives
from aster.utility_directory.text_files import on_file
from aster.utility_directory.tool import Input, ToolContext, input_schema

MAX_MATCHES = 100
_FILE_BYTES = 20_000_000
_ANSWER_BYTES = 2_000_000


class Grep(LookingTool):
    definition = ToolDef(
        name="grep",
        description=(
            "Search the contents of files in the workspace with a Python regular expression and list the matching "
            f"lines as path:line: text, at most {MAX_MATCHES}. Binary files and the directories .git, "
            "node_modules, __pycache__ and .venv are left out. ^ and $ match at each line."
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
        opened: list[tuple[int, Path]] = []

        def start(path: Path) -> ToolOutcome:
            opened.append((context.workspace.open(path, os.O_RDONLY), path))
            return ToolOutcome.text("")

        try:
            failed = await on_file(context, given.get("path", "."), start)
            if not opened:
                return failed
            fd, path = opened[0]
            return await _search(given, context, fd, path)
        finally:
            for fd, _ in opened:
                os.close(fd)


async def _search(given: Input, context: ToolContext, fd: int, path: Path) -> ToolOutcome:
    identity, seconds = context.sandbox.identity, context.limits.search_seconds
    request = {
        "fd": fd,
        "name": context.workspace.show(path),
        "hidden": [
            str(place.relative_to(path)) for place in context.workspace.hidden if place.is_relative_to(path)
        ],
        "pattern": given["pattern"],
        "globs": alternatives(given["glob"]) if given.get("glob") else [],
        "ignore_case": given.get("ignore_case", False),
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
    )
    return _outcome(done, seconds)


def _outcome(done: Completed, seconds: float) -> ToolOutcome:
    if done.timed_out or done.signal is not None:
        text = f"Error: the search was stopped after {seconds:g} s. Use a simpler expression or a narrower path."
        return ToolOutcome.error(text, reason="timeout")
    if done.exit_code != 0:
        return ToolOutcome.error(f"Error: the search failed: {done.stderr[-500:]}", reason="io_error")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "invalid" in answer:
        text = f"Error: not a valid regular expression: {answer['invalid']}. Escape characters meant literally."
        return ToolOutcome.error(text, reason="invalid_input")
    notes: list[str] = []
    if answer["more"]:
        notes.append(f"[the first {answer['matches']} matches; there may be more, use a narrower search]")
    if answer["too_large"]:
        notes.append(f"[too large to search: {', '.join(answer['too_large'][:5])}]")
    body = "\n".join([*(answer["lines"] or ["No matches."]), *notes])
    return ToolOutcome.text(body, {"matches": answer["matches"], "files": answer["files"], "more": answer["more"]})
