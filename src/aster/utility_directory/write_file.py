"""Writing a whole file. The call's fate can be told from the file itself, so a crash leaves no doubt behind."""

from functools import partial
from pathlib import Path

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import PathRefused
from aster.utility_directory.names import shown
from aster.utility_directory.path_tools import ChangingTool
from aster.utility_directory.text_files import NotAFile, on_file, owner_of, read_text, store, written_by
from aster.utility_directory.tool import Input, ToolContext, input_schema

MAY_BE_EMPTY = frozenset(("__init__.py", "py.typed", ".gitkeep", ".nojekyll", ".gitignore", "conftest.py"))
"""Files that do their work by being there; any other that is written empty is a slip."""


class WriteFile(ChangingTool):
    definition = ToolDef(
        name="write_file",
        description=(
            "Write a text file of the workspace, whole: what was in it before is replaced. Directories that are "
            "missing are made. To change a part of a file use edit_file; an empty file is made with touch in bash."
        ),
        input_schema=input_schema(
            ("path", "content"),
            path={
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the workspace or absolute.",
            },
            content={"type": "string", "description": "Everything the file shall contain."},
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return await on_file(context, given["path"], partial(_write, given, context))

    async def check(self, given: Input, context: ToolContext) -> ToolOutcome | None:
        outcome = await on_file(context, given["path"], partial(_compare, given, context))
        return outcome if outcome.ok else None


def _write(given: Input, context: ToolContext, path: Path) -> ToolOutcome:
    content: str = given["content"]
    if given["path"].endswith("/"):
        raise NotAFile(f"{given['path']!r} names a directory.")
    if not content and path.name not in MAY_BE_EMPTY:
        text = (
            "Error: content is empty, so nothing was written. Give the whole text of the file. If it shall be "
            "empty, make it with `touch`, or empty it with `truncate -s 0`, in bash."
        )
        return ToolOutcome.error(text, reason="empty_content")
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        return ToolOutcome.error(
            "Error: the content has characters that UTF-8 cannot hold.", reason="invalid_input"
        )
    new = store(context.workspace, path, content, context.idempotency_key, owner_of(context))
    name = shown(context.workspace, path)
    text = f"Wrote {size:,} bytes to {name} ({'a new file' if new else 'replaced what was there'})."
    return ToolOutcome.text(text, {"path": str(path), "bytes": size, "created": new})


def _compare(given: Input, context: ToolContext, path: Path) -> ToolOutcome:
    name = shown(context.workspace, path)
    same = read_text(context.workspace, path) == given["content"]
    if not same and not written_by(context.workspace, path, context.idempotency_key):
        raise PathRefused(f"{name} does not have this content.")
    return ToolOutcome.text(f"Wrote {name} (seen afterwards).", {"path": str(path), "checked": True})
