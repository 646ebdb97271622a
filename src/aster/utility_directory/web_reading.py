"""What a fetched page says, by what kind of thing it is. Markup and PDF are read in a process of their own, within
a time limit; markup that is too much for the parser is still read, just without its structure.
"""

import json
from typing import Any

from aster.contracts.model import Contract
from aster.sandbox.fetch import Page
from aster.sandbox.identity import Identity
from aster.sandbox.worker import worked
from aster.utility_directory.web_text import decode, is_binary, stripped, visible

READ_SECONDS = 5.0
"""Of the processor; a machine that is busy may take several times that by the clock."""
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_TEXT = frozenset(
    (
        *("application/json", "application/xml", "application/javascript", "application/ecmascript"),
        *("application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql"),
        *("application/x-sh", "application/x-httpd-php", "application/rtf", "application/x-ndjson"),
    )
)
_UNSAID = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-download"))


class Reading(Contract):
    """The text of a page; `kind` is html, text or pdf, `note` is what else the model should know. Of a PDF, `pages`
    is how many there are and `last` the last of them in the text."""

    kind: str
    text: str
    title: str = ""
    note: str = ""
    pages: int | None = None
    last: int | None = None
    hidden: int = 0


class NotReadable(Exception):
    """A page without text, and why."""


def kind_of(page: Page) -> str | None:
    """html, pdf or text; None for what cannot be read."""
    media = page.content_type.partition(";")[0].strip().lower()
    if media == "application/pdf" or (media in _UNSAID and page.body.startswith(b"%PDF-")):
        return "pdf"
    if is_binary(page.body):
        return None
    if media in _HTML:
        return "html"
    if media.startswith("text/") or media in _TEXT or media.endswith(("+json", "+xml")):
        return "text"
    if media not in _UNSAID:
        return None
    start = page.body[:512].lstrip().lower()
    return "html" if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")) else "text"


async def read_page(page: Page, identity: Identity | None, seconds: float = READ_SECONDS) -> Reading:
    """The text of a page; `NotReadable` if there is none to be had."""
    kind = kind_of(page)
    if kind is None:
        what = page.content_type.partition(";")[0].strip() or "unknown"
        raise NotReadable(f"it is not text (type {what}, {len(page.body):,} bytes), so it cannot be shown")
    if kind == "text":
        return Reading(kind=kind, text=visible(decode(page.body, page.content_type)))
    if kind == "pdf":
        return await read_pdf(page.body, identity, seconds)
    asked = {"kind": kind, "url": page.url, "content_type": page.content_type}
    answer = await _in_worker(page.body, asked, identity, seconds)
    if answer is not None:
        return Reading(kind=kind, **answer)
    plain = visible(stripped(decode(page.body, page.content_type, markup=True)))
    return Reading(kind=kind, text=plain, note="The page's markup is too complex; this is its text alone.")


async def read_pdf(body: bytes, identity: Identity | None, seconds: float = READ_SECONDS, **span: int) -> Reading:
    """The text of a PDF, or of a `span` of it (`first`, `last`, `chars`); `NotReadable` if there is none."""
    answer = await _in_worker(body, {"kind": "pdf", "span": span}, identity, seconds)
    if answer is None:
        raise NotReadable("the PDF takes too long to read")
    if answer.get("problem"):
        raise NotReadable(answer["problem"])
    return Reading(kind="pdf", **answer)


async def _in_worker(
    body: bytes, asked: dict[str, Any], identity: Identity | None, seconds: float
) -> dict[str, Any] | None:
    """What the worker says; None when it had to be stopped."""
    answer = await worked("aster.utility_directory.web_worker", body, asked, identity, seconds)
    return None if answer is None else json.loads(answer)
