"""Changing parts of a file by naming their exact text. All edits of a call are made, in one write, or none; a text
that is missing or ambiguous is answered with what there is instead."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.utility_directory.names import shown
from aster.utility_directory.nearest import nearest
from aster.utility_directory.path_tools import ChangingTool
from aster.utility_directory.text_files import on_file, owner_of, read_text, store, written_by
from aster.utility_directory.tool import Input, ToolContext, input_schema

MAX_EDITS = 50
_PLACES_SHOWN = 5
_EDIT: dict[str, dict[str, Any]] = {
    "old_text": {"type": "string", "minLength": 1, "description": "The text to replace, exactly."},
    "new_text": {"type": "string", "description": "What to put in its place; empty deletes it."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence instead of exactly one."},
}
_ONE_OF_MANY = {name: {key: rule[key] for key in rule if key != "description"} for name, rule in _EDIT.items()}


class EditFile(ChangingTool):
    definition = ToolDef(
        name="edit_file",
        description=(
            "Replace a piece of text in a file of the workspace. old_text must be in the file exactly as given, "
            "with its indentation and line breaks, and exactly once: if it occurs several times, include more of "
            "the lines around it until it is unique, or set replace_all. Read the file first. For several changes "
            "to one file give edits instead; all of them are made or none."
        ),
        input_schema=input_schema(
            ("path",),
            path={
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the workspace or absolute.",
            },
            **_EDIT,
            edits={
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_EDITS,
                "items": input_schema(("old_text", "new_text"), **_ONE_OF_MANY),
                "description": "Several changes, made one after the other.",
            },
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        edits = _edits(given)
        if isinstance(edits, ToolOutcome):
            return edits
        return await on_file(context, given["path"], partial(_edit, edits, context))

    async def check(self, given: Input, context: ToolContext) -> ToolOutcome | None:
        edits = _edits(given)
        if isinstance(edits, ToolOutcome):
            return None
        outcome = await on_file(context, given["path"], partial(_was_done, edits, context))
        return outcome if outcome.ok else None


class _Edit(NamedTuple):
    """One change; `label` is what to call it in a complaint."""

    old: str
    new: str
    everywhere: bool
    label: str


class _Refused(Exception):
    """An edit that cannot be made, and so none of them is."""

    def __init__(self, outcome: ToolOutcome) -> None:
        self.outcome = outcome


def _edits(given: Input) -> list[_Edit] | ToolOutcome:
    """What is to be changed, in either form; an outcome that says what is wrong with it."""
    single = [name for name in ("old_text", "new_text") if name in given]
    several: list[dict[str, Any]] | None = given.get("edits")
    if several is not None and not single:
        edits = [
            _Edit(edit["old_text"], edit["new_text"], edit.get("replace_all", False), f"edits[{number}].")
            for number, edit in enumerate(several)
        ]
    elif several is None and len(single) == 2:
        edits = [_Edit(given["old_text"], given["new_text"], given.get("replace_all", False), "")]
    else:
        text = "Error: give old_text and new_text for one change, or edits for several, and not both."
        return ToolOutcome.error(text, reason="invalid_input")
    for edit in edits:
        if edit.old == edit.new:
            text = f"Error: {edit.label}old_text and new_text are the same."
            return ToolOutcome.error(text, reason="invalid_input")
    return edits


def _edit(edits: Sequence[_Edit], context: ToolContext, path: Path) -> ToolOutcome:
    name = shown(context.workspace, path)
    text = read_text(context.workspace, path)
    places: list[list[int]] = []
    try:
        for edit in edits:
            text, lines = _replaced(edit, text, name)
            places.append(lines)
        store(context.workspace, path, text, context.idempotency_key, owner_of(context))
    except _Refused as refusal:
        return refusal.outcome
    except UnicodeEncodeError:
        return ToolOutcome.error("Error: new_text has characters that UTF-8 cannot hold.", reason="invalid_input")
    count = sum(map(len, places))
    data = {"path": str(path), "replacements": count}
    if len(edits) > 1:
        where = ", ".join(str(lines[0]) for lines in places)
        return ToolOutcome.text(f"Made {len(edits)} edits in {name} (lines {where}).", data)
    times = "once" if count == 1 else f"{count} times"
    return ToolOutcome.text(
        f"Replaced it {times} in {name} (line {places[0][0]}{', …' if count > 1 else ''}).", data
    )


def _replaced(edit: _Edit, text: str, name: str) -> tuple[str, list[int]]:
    """The text after one edit, and the lines where it was made."""
    old, new = edit.old, edit.new
    if old not in text and "\r\n" in text and "\r" not in old:  # a model does not see carriage returns
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    nothing = "; none of the edits was made" if edit.label else ""
    if count == 0:
        said = f"Error: {edit.label}old_text is not in {name}{nothing}.{nearest(edit.old, text)}"
        raise _Refused(ToolOutcome.error(said, reason="no_match"))
    lines = _line_numbers(old, text)
    if count > 1 and not edit.everywhere:
        where = ", ".join(map(str, lines[:_PLACES_SHOWN]))
        said = (
            f"Error: {edit.label}old_text occurs {count} times in {name} (lines {where}){nothing}. Include more of "
            "the text around the place you mean, or set replace_all."
        )
        raise _Refused(ToolOutcome.error(said, reason="ambiguous_match", data={"occurrences": count}))
    return text.replace(old, new), lines


def _was_done(edits: Sequence[_Edit], context: ToolContext, path: Path) -> ToolOutcome:
    """Done for certain if the file carries this call's mark. Without marks, new texts where the old ones are gone
    say so too, unless one contains another: then a file looks alike before and after."""
    name = shown(context.workspace, path)
    done = written_by(context.workspace, path, context.idempotency_key)
    if not done and all(edit.new and edit.old not in edit.new and edit.new not in edit.old for edit in edits):
        text = read_text(context.workspace, path)
        done = all(edit.new in text and edit.old not in text for edit in edits)
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
