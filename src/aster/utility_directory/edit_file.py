"""Changing a part of a file by naming its exact text. A text that is missing or ambiguous changes nothing and is
answered with what there is instead."""

import difflib
from functools import partial
from pathlib import Path

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.capture import cut
from aster.utility_directory.path_tools import ChangingTool
from aster.utility_directory.text_files import on_file, owner_of, read_text, store, written_by
from aster.utility_directory.tool import Input, ToolContext, input_schema

_PLACES_SHOWN = 5
_SHOWN = 4_000
_LINES_COMPARED = 5_000
_CHARACTERS_COMPARED = 300
_SIMILAR = 0.6


class EditFile(ChangingTool):
    definition = ToolDef(
        name="edit_file",
        description=(
            "Replace a piece of text in a file of the workspace. old_text must be in the file exactly as given, "
            "with its indentation and line breaks, and exactly once: if it occurs several times, include more of "
            "the lines around it until it is unique, or set replace_all. Read the file first."
        ),
        input_schema=input_schema(
            ("path", "old_text", "new_text"),
            path={
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the workspace or absolute.",
            },
            old_text={"type": "string", "minLength": 1, "description": "The text to replace, exactly."},
            new_text={"type": "string", "description": "What to put in its place; empty deletes it."},
            replace_all={"type": "boolean", "description": "Replace every occurrence instead of exactly one."},
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        return await on_file(context, given["path"], partial(_edit, given, context))

    async def check(self, given: Input, context: ToolContext) -> ToolOutcome | None:
        outcome = await on_file(context, given["path"], partial(_was_done, given, context))
        return outcome if outcome.ok else None


def _edit(given: Input, context: ToolContext, path: Path) -> ToolOutcome:
    old, new, everywhere = given["old_text"], given["new_text"], given.get("replace_all", False)
    if old == new:
        return ToolOutcome.error("Error: old_text and new_text are the same.", reason="invalid_input")
    name = context.workspace.show(path)
    text = read_text(context.workspace, path)
    if old not in text and "\r\n" in text and "\r" not in old:  # a model does not see carriage returns
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        return ToolOutcome.error(f"Error: old_text is not in {name}.{_nearest(old, text)}", reason="no_match")
    if count > 1 and not everywhere:
        where = ", ".join(map(str, _line_numbers(old, text)[:_PLACES_SHOWN]))
        return ToolOutcome.error(
            f"Error: old_text occurs {count} times in {name} (lines {where}). Include more of the text around the "
            "place you mean, or set replace_all.",
            reason="ambiguous_match",
            data={"occurrences": count},
        )
    lines = _line_numbers(old, text)
    changed = text.replace(old, new)
    try:
        store(context.workspace, path, changed, context.idempotency_key, owner_of(context))
    except UnicodeEncodeError:
        return ToolOutcome.error("Error: new_text has characters that UTF-8 cannot hold.", reason="invalid_input")
    times = "once" if count == 1 else f"{count} times"
    return ToolOutcome.text(
        f"Replaced it {times} in {name} (line {lines[0]}{', …' if count > 1 else ''}).",
        {"path": str(path), "replacements": count},
    )


def _was_done(given: Input, context: ToolContext, path: Path) -> ToolOutcome:
    """Done for certain if the file carries this call's mark. Without marks, the new text where the old is gone says
    so too, unless the one contains the other: then a file looks alike before and after."""
    name = context.workspace.show(path)
    old, new = given["old_text"], given["new_text"]
    done = written_by(context.workspace, path, context.idempotency_key)
    if not done and new and old not in new and new not in old:
        text = read_text(context.workspace, path)
        done = new in text and old not in text
    if not done:
        return ToolOutcome.error(f"It cannot be told whether {name} was edited.", reason="unknown")
    return ToolOutcome.text(f"Replaced it in {name} (seen afterwards).", {"path": str(path), "checked": True})


def _line_numbers(old: str, text: str) -> list[int]:
    numbers: list[int] = []
    at, line, counted = text.find(old), 1, 0
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        numbers.append(line)
        at = text.find(old, at + len(old))
    return numbers


def _nearest(old: str, text: str) -> str:
    """The lines most like the first line that was meant, as many as were meant."""
    wanted = [line for line in old.splitlines() if line.strip()]
    lines = text.split("\n")
    if not wanted or len(lines) > _LINES_COMPARED:
        return ""
    heads = [line.strip()[:_CHARACTERS_COMPARED] for line in lines]
    close = difflib.get_close_matches(wanted[0].strip()[:_CHARACTERS_COMPARED], heads, n=1, cutoff=_SIMILAR)
    if not close:
        return " Nothing in it is similar; read the file again."
    start = heads.index(close[0])
    shown = "\n".join(lines[start : start + max(len(old.split("\n")), 1)])
    return f" The nearest text, from line {start + 1}, is:\n{cut(shown, _SHOWN)}"
