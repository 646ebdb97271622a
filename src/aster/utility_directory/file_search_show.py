"""What a model sees of a search: where, the lines that matter most there, and how much has not been looked at."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aster.contracts.tools import ToolOutcome
from aster.memory.passages.chunks import Passage
from aster.memory.passages.fusion import Ranked
from aster.memory.passages.index import Found
from aster.memory.passages.words import words
from aster.sandbox.paths import Workspace
from aster.utility_directory.names import shown

_LINES = 8
_CHARS = 200


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the answer rests on: how much is in the index and how much is missing, and why words alone decided, if
    they did."""

    files: int
    passages: int
    files_left: int
    passages_left: int
    cut: bool
    without_meaning: str | None


def outcome(
    workspace: Workspace, results: Sequence[tuple[Ranked, Found]], asked: Sequence[str], coverage: Coverage
) -> ToolOutcome:
    entries: list[str] = []
    data: list[dict[str, Any]] = []
    for ranked, found in results:
        place, passage = shown(workspace, Path(os.fsdecode(found.path))), found.passage
        entries.append(
            f"{place}:{passage.first}-{passage.last} (score {ranked.score:.2f})\n{_snippet(passage, asked)}"
        )
        data.append(
            {
                "path": place,
                "start": passage.first,
                "end": passage.last,
                "score": round(ranked.score, 4),
                "bm25": round(ranked.bm25, 4),
                "cosine": None if ranked.cosine is None else round(ranked.cosine, 4),
            }
        )
    notes = _notes(coverage)
    body = entries or ["Nothing fits. Hidden, binary and very large files are not searched here; grep reads those."]
    return ToolOutcome.text(
        "\n\n".join([*body, "\n".join(notes)] if notes else body),
        {
            "results": data,
            "mode": "keywords" if coverage.without_meaning else "hybrid",
            "files": coverage.files,
            "passages": coverage.passages,
            "files_left": coverage.files_left,
            "passages_left": coverage.passages_left,
            "complete": not (coverage.files_left or coverage.passages_left or coverage.cut),
        },
    )


def _notes(coverage: Coverage) -> list[str]:
    notes: list[str] = []
    if coverage.without_meaning:
        notes.append(f"[by keywords alone: {coverage.without_meaning}]")
    if coverage.files_left:
        notes.append(f"[{coverage.files_left:,} files are not read yet; search again to go on]")
    if coverage.passages_left:
        notes.append(
            f"[{coverage.passages_left:,} of {coverage.passages:,} passages are known by keywords only so far; "
            "search again to go on]"
        )
    if coverage.cut:
        notes.append("[the workspace is too large: not all of its files are searched]")
    return notes


def _snippet(passage: Passage, asked: Sequence[str]) -> str:
    """The lines of a passage with the most of what was asked; its beginning when there are none."""
    lines = passage.text.split("\n")
    wanted = set(asked)
    hits = [len(wanted.intersection(words(line))) for line in lines]
    starts = range(max(len(lines) - _LINES, 0) + 1)
    start = max(starts, key=lambda start: (sum(hits[start : start + _LINES]), -start))
    return "\n".join(
        f"{passage.first + start + number}: {line if len(line) <= _CHARS else line[:_CHARS] + ' …'}"
        for number, line in enumerate(lines[start : start + _LINES])
    )
