"""The text of a PDF file, page by page. Files lie about themselves: whatever a page does, the others are read."""

import codecs
import io
from typing import NamedTuple

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from aster.utility_directory.web_text import visible

_PAGES = 1000
_CHARS = 2_000_000


_CODECS = (
    *("latin-1", "cp1252", "mac-roman", "charmap", "utf-16", "utf-16-be", "utf-16-le", "gbk", "gb2312", "gb18030"),
    *("big5", "cp950", "shift_jis", "cp932", "euc-jp", "euc-kr"),
)
_SAMPLE = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [4 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>
endobj
4 0 obj
<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>
endobj
5 0 obj
<< /Length 27 >>
stream
BT /F1 12 Tf (sample) Tj ET
endstream
endobj
trailer
<< /Size 6 /Root 1 0 R >>
startxref
0
%%EOF
"""


class Unreadable(Exception):
    """The file has no text to give; the message says why."""


def load_all() -> None:
    """Read a sample: the library loads parts of itself when they are first used, which may be too late."""
    for name in _CODECS:
        codecs.lookup(name)
    text_of_pdf(_SAMPLE)


class PdfText(NamedTuple):
    """What some pages say; `pages` is how many there are, `last` the last one that is in the text."""

    title: str
    text: str
    pages: int
    last: int


def text_of_pdf(body: bytes, first: int = 1, last: int = _PAGES, chars: int = _CHARS) -> PdfText:
    """The text of the pages from `first` to `last`, as many as fit; a page longer than `chars` is cut."""
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("the PDF needs a password")
        title = str(reader.metadata.title or "") if reader.metadata else ""
        count = len(reader.pages)
    except Unreadable:
        raise
    except DependencyError as error:
        raise Unreadable("the PDF is encrypted in a way that cannot be read here") from error
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise Unreadable(f"the PDF is damaged ({type(error).__name__})") from error
    parts: list[str] = []
    room, reached = chars, first - 1
    for number in range(first, min(count, last) + 1):
        text = _page(reader, number - 1)
        if parts and len(text) > room:
            break
        parts.append(f"## Page {number}\n\n{text[:chars]}")
        room -= len(text)
        reached = number
    return PdfText(_sound(title), "\n\n".join(parts), count, reached)


def _page(reader: PdfReader, number: int) -> str:
    try:
        return _sound(reader.pages[number].extract_text()).strip() or "(no text on this page)"
    except Exception as error:  # noqa: BLE001 - the boundary to a parser of hostile files: one page fails alone
        return f"(this page cannot be read: {type(error).__name__})"


def _sound(text: str) -> str:
    """Visible text that can be encoded: a font's table may name halves of characters."""
    return visible(text).encode("utf-8", "replace").decode()
