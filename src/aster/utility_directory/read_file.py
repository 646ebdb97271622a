"""Reading a file: its text as it is, a page of it when it is long, or the picture if it is one."""

import base64
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from aster.contracts.blocks import Base64Source, ImageBlock, TextBlock
from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import Workspace
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.text_files import on_file, open_file
from aster.utility_directory.tool import Input, ToolContext, input_schema

PAGE_BYTES = 50_000
PAGE_LINES = 2_000
MAX_IMAGE_BYTES = 5_000_000
_COUNTED_BYTES = 50_000_000
_SAMPLE = 8192

_IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


class ReadFile(LookingTool):
    definition = ToolDef(
        name="read_file",
        description=(
            "Read a file of the workspace. Text is returned exactly as it is. A long file is returned in pages of "
            f"up to {PAGE_BYTES // 1000} KB; the first line then says which lines these are and how to read on. "
            "Pictures (PNG, JPEG, GIF, WebP) are shown to you as pictures."
        ),
        input_schema=input_schema(
            ("path",),
            path={
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the workspace or absolute.",
            },
            offset={"type": "integer", "minimum": 1, "description": "The first line to read; 1 is the first."},
            limit={
                "type": "integer",
                "minimum": 1,
                "description": f"The most lines to read; {PAGE_LINES} if not given.",
            },
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        first, limit = given.get("offset", 1), given.get("limit", PAGE_LINES)
        return await on_file(context, given["path"], partial(_read, context.workspace, first, limit))


def _read(workspace: Workspace, first: int, limit: int, path: Path) -> ToolOutcome:
    name = workspace.show(path)
    with os.fdopen(open_file(workspace, path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        sample = file.read(_SAMPLE)
        file.seek(0)
        media_type = _image_type(sample)
        if media_type is not None:
            return _picture(name, media_type, size, file)
        if b"\x00" in sample:
            text = f"Error: {name} is a binary file of {size:,} bytes; look at it with a program in bash."
            return ToolOutcome.error(text, reason="binary_file")
        page = _page(file, first, limit)
        page.total += _lines_left(file) if size <= _COUNTED_BYTES else 0
    return _shown(name, page, first, size <= _COUNTED_BYTES)


@dataclass(slots=True)
class _Page:
    """Some lines of a file. `total` counts the lines seen so far, `cut_line` is one too long to show whole."""

    data: bytes = b""
    last: int = 0
    total: int = 0
    complete: bool = True
    cut_line: int | None = None


def _page(file: BinaryIO, first: int, limit: int) -> _Page:
    page = _Page()
    continues = False
    while piece := file.readline(PAGE_BYTES + 1):
        page.total += not continues
        number, began = page.total, not continues
        continues = not piece.endswith(b"\n")
        if number < first or not began:
            continue
        room = PAGE_BYTES - len(page.data)
        if number >= first + limit or (len(piece) > room and page.data):
            page.complete = False
            page.total -= 1
            file.seek(-len(piece), os.SEEK_CUR)
            return page
        page.data += piece[:room]
        page.last = number
        if len(piece) > room:
            page.cut_line = number
    return page


def _lines_left(file: BinaryIO) -> int:
    count, last = 0, b"\n"
    while chunk := file.read(1 << 20):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


def _shown(name: str, page: _Page, first: int, counted: bool) -> ToolOutcome:
    total = f"{page.total:,}" if counted else "very many"
    if page.last == 0:
        if first == 1:
            return ToolOutcome.text("(empty file)")
        return ToolOutcome.error(f"Error: {name} has only {total} lines.", reason="out_of_range")
    text = page.data.decode("utf-8", "replace").replace("\x00", "\ufffd")
    notes: list[str] = []
    if first > 1 or not page.complete:
        notes.append(f"lines {first}-{page.last} of {total}")
    if page.cut_line is not None:
        notes.append(f"line {page.cut_line} is too long and is cut; see the rest with bash (cut -c)")
    if not page.complete:
        notes.append(f"read on with offset={page.last + 1}")
    if "\ufffd" in text:
        notes.append("bytes that are not UTF-8 are shown as \ufffd")
    header = f"[{name}: {'; '.join(notes)}]\n" if notes else ""
    return ToolOutcome.text(header + text, {"lines": page.last - first + 1, "complete": page.complete})


def _image_type(sample: bytes) -> str | None:
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _IMAGES if sample.startswith(magic)), None)


def _picture(name: str, media_type: str, size: int, file: BinaryIO) -> ToolOutcome:
    if size > MAX_IMAGE_BYTES:
        text = f"Error: {name} is a picture of {size:,} bytes; make it smaller than {MAX_IMAGE_BYTES:,} first."
        return ToolOutcome.error(text, reason="too_large")
    data = base64.b64encode(file.read(MAX_IMAGE_BYTES)).decode("ascii")
    picture = ImageBlock(source=Base64Source(media_type=media_type, data=data))
    return ToolOutcome(ok=True, output=(TextBlock(text=f"{name} ({media_type}, {size:,} bytes)"), picture))
