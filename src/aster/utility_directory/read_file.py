"""Reading a file: its text as it is, a page of it when it is long, or what it shows when it is a picture, a
notebook or a PDF. What kind it is, its bytes say; where they break its name's promise, they are read as text."""

import codecs
import io
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from aster.contracts.blocks import TextBlock
from aster.contracts.tools import ToolDef, ToolOutcome
from aster.sandbox.paths import Workspace
from aster.utility_directory.names import plain, shown
from aster.utility_directory.notebooks import Notebook, notebook
from aster.utility_directory.paging import PAGE_BYTES, PAGE_LINES, page_of, paged
from aster.utility_directory.path_tools import ReadingTool, kept_id
from aster.utility_directory.pictures import MAX_IMAGE_BYTES, image_type, picture
from aster.utility_directory.text_files import on_file, open_file
from aster.utility_directory.tool import Input, ToolContext, input_schema

PDF_PAGES = 20
MAX_DOCUMENT_BYTES = 30_000_000
_SAMPLE = 8192
_PDF_STARTS = 1024
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = codecs.BOM_UTF32_LE


class ReadFile(ReadingTool):
    result_chars = None
    definition = ToolDef(
        name="read_file",
        description=(
            "Read a file of the workspace. Text is returned exactly as it is. A long file is returned in pages of "
            f"up to {PAGE_BYTES // 1000} KB; the first line then says which lines these are and how to read on. "
            "Pictures (PNG, JPEG, GIF, WebP) are shown to you as pictures, notebooks cell by cell, of a PDF the "
            f"text, up to {PDF_PAGES} pages at a time. A path `artifact:ID` reads the long output of an earlier "
            "call that was shortened."
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
            pages={
                "type": "string",
                "pattern": r"^[0-9]{1,6}(-[0-9]{0,6})?$",
                "description": 'Of a PDF: which pages, like "3" or "1-5".',
            },
        ),
    )

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        wanted = _Wanted(given.get("offset", 1), given.get("limit", PAGE_LINES), given.get("pages"))
        artifact = kept_id(given)
        if artifact is not None:
            kept = _kept(await context.artifact(artifact), plain(given["path"]), wanted)
            return kept if isinstance(kept, ToolOutcome) else await _pdf(kept, wanted.pages, context)
        found = await on_file(context, given["path"], partial(_read, context.workspace, wanted))
        if isinstance(found, ToolOutcome):
            return found
        if "offset" in given or "limit" in given:
            text = 'Error: a PDF is read by pages; use pages, like "1-5", and not offset and limit.'
            return ToolOutcome.error(text, reason="invalid_input")
        return await _pdf(found, wanted.pages, context)


@dataclass(frozen=True, slots=True)
class _Wanted:
    first: int
    limit: int
    pages: str | None


@dataclass(frozen=True, slots=True)
class _Pdf:
    name: str
    data: bytes


def _read(workspace: Workspace, wanted: _Wanted, path: Path) -> ToolOutcome | _Pdf:
    name = shown(workspace, path)
    with os.fdopen(open_file(workspace, path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        sample = file.read(_SAMPLE)
        file.seek(0)
        media_type = image_type(sample)
        if media_type is not None:
            return _picture(name, media_type, size, file)
        if b"%PDF-" in sample[:_PDF_STARTS] and (sample.startswith(b"%PDF-") or path.suffix.lower() == ".pdf"):
            return _Pdf(name, file.read()) if size <= MAX_DOCUMENT_BYTES else _too_large(name, "PDF", size)
        if wanted.pages is not None:
            text = f"Error: {name} is not a PDF; use offset and limit to read a part of it."
            return ToolOutcome.error(text, reason="invalid_input")
        if path.suffix.lower() == ".ipynb" and size <= MAX_DOCUMENT_BYTES:
            book = notebook(file.read())
            if book is not None:
                return _cells(name, book, wanted)
            file.seek(0)
        if sample.startswith(_UTF16) and not sample.startswith(_UTF32):
            return _utf16(name, file, size, wanted)
        if b"\x00" in sample:
            text = f"Error: {name} is a binary file of {size:,} bytes; look at it with a program in bash."
            return ToolOutcome.error(text, reason="binary_file")
        return paged(name, page_of(file, wanted.first, wanted.limit, size))


def _kept(data: bytes | None, name: str, wanted: _Wanted) -> ToolOutcome | _Pdf:
    """A page of an artifact, or the picture or PDF that it is."""
    if data is None:
        return ToolOutcome.error(f"Error: there is no {name}.", reason="not_found")
    media_type = image_type(data[:_SAMPLE])
    if media_type is not None:
        return _picture(name, media_type, len(data), io.BytesIO(data))
    if data.startswith(b"%PDF-"):
        return _Pdf(name, data)
    return paged(name, page_of(io.BytesIO(data), wanted.first, wanted.limit, len(data)))


def _utf16(name: str, file: BinaryIO, size: int, wanted: _Wanted) -> ToolOutcome:
    if size > MAX_DOCUMENT_BYTES:
        return _too_large(name, "UTF-16 text", size)
    data = file.read(MAX_DOCUMENT_BYTES).decode("utf-16", "replace").encode()
    return paged(name, page_of(io.BytesIO(data), wanted.first, wanted.limit, len(data)), ["UTF-16"])


def _cells(name: str, book: Notebook, wanted: _Wanted) -> ToolOutcome:
    data = book.text
    page = page_of(io.BytesIO(data), wanted.first, wanted.limit, len(data))
    outcome = paged(name, page, [f"a notebook of {book.cells} cells, shown without its JSON"])
    pictures = book.shown(page.first, page.last)
    return msgspec.structs.replace(outcome, output=(*outcome.output, *pictures)) if pictures else outcome


def _picture(name: str, media_type: str, size: int, file: BinaryIO) -> ToolOutcome:
    if size > MAX_IMAGE_BYTES:
        text = f"Error: {name} is a picture of {size:,} bytes; make it smaller than {MAX_IMAGE_BYTES:,} first."
        return ToolOutcome.error(text, reason="too_large")
    block = picture(file.read(MAX_IMAGE_BYTES), media_type)
    return ToolOutcome(ok=True, output=(TextBlock(text=f"{name} ({media_type}, {size:,} bytes)"), block))


async def _pdf(found: _Pdf, pages: str | None, context: ToolContext) -> ToolOutcome:
    from aster.utility_directory.web_reading import NotReadable, read_pdf

    first, last = _span(pages)
    if last < first or first < 1:
        text = 'Error: pages must be like "3" or "1-5", counted from 1.'
        return ToolOutcome.error(text, reason="invalid_input")
    span = {"first": first, "last": min(last, first + PDF_PAGES - 1), "chars": PAGE_BYTES}
    try:
        reading = await read_pdf(found.data, context.sandbox.identity, **span)
    except NotReadable as problem:
        return ToolOutcome.error(f"Error: {found.name} cannot be read: {problem}.", reason="not_readable")
    count, reached = reading.pages or 0, reading.last or 0
    if reached < first:
        return ToolOutcome.error(f"Error: {found.name} has only {count:,} pages.", reason="out_of_range")
    more = f'; read on with pages="{reached + 1}-{min(reached + PDF_PAGES, count)}"' if reached < count else ""
    text = f"[{found.name}: PDF, pages {first}-{reached} of {count:,}{more}]\n{reading.text}"
    return ToolOutcome.text(text, {"pages": count, "first": first, "last": reached})


def _span(pages: str | None) -> tuple[int, int]:
    if pages is None:
        return 1, PDF_PAGES
    first, dash, last = pages.partition("-")
    return int(first), int(last) if last else (int(first) + PDF_PAGES - 1 if dash else int(first))


def _too_large(name: str, what: str, size: int) -> ToolOutcome:
    text = (
        f"Error: {name} is a {what} of {size:,} bytes, more than the {MAX_DOCUMENT_BYTES:,} that can be read here; "
        "look at it with a program in bash."
    )
    return ToolOutcome.error(text, reason="too_large")
