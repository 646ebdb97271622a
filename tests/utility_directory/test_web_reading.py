"""What a fetched page says, by kind; hostile ones cost time and nothing else."""

import os
import time

import pytest

from aster.sandbox.fetch import Page
from aster.sandbox.identity import tool_identity
from aster.utility_directory.web_pdf import load_all, text_of_pdf
from aster.utility_directory.web_reading import NotReadable, Reading, kind_of, read_page

URL = "https://example.com/"


def pdf(*pages: str) -> bytes:
    """A small PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects += [f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for number, line in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({line}) Tj ET"
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /Resources {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    out, places = b"%PDF-1.4\n", [0]
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places[1:])
    end = f"xref\n0 {len(places)}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(places)} /Root 1 0 R >>\n"
    return out + end.encode() + f"startxref\n{len(out)}\n%%EOF".encode()


async def read(body: bytes | str, content_type: str = "text/html", seconds: float = 5.0) -> Reading:
    data = body.encode() if isinstance(body, str) else body
    return await read_page(Page(URL, 200, content_type, data), tool_identity(), seconds)


async def test_markup_is_read_by_a_worker() -> None:
    got = await read("<title>T</title><h1>Hi</h1><a href=x>y</a>")
    assert (got.kind, got.title, got.text) == ("html", "T", "# Hi\n\n[y](https://example.com/x)")


async def test_a_pdf_is_read_by_page() -> None:
    got = await read(pdf("First page", "Second page"), "application/pdf")
    assert (got.kind, got.pages) == ("pdf", 2)
    assert got.text == "## Page 1\n\nFirst page\n\n## Page 2\n\nSecond page"


def test_the_sample_loads_what_a_page_needs() -> None:
    load_all()
    assert text_of_pdf(pdf("x"))[1] == "## Page 1\n\nx"


async def test_letters_are_found_by_a_worker_without_rights() -> None:
    page = '<meta charset="shift_jis"><p>\u65e5\u672c</p>'.encode("shift_jis")
    assert (await read(page)).text == "\u65e5\u672c"


async def test_plain_text_and_json_stay_as_they_are() -> None:
    assert (await read("<b>x</b>\r\n", "text/plain")).text == "<b>x</b>\n"
    assert (await read('{"a": [1, 2]}', "application/json")).text == '{"a": [1, 2]}'


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"x", "html"),
        ("application/xhtml+xml", b"x", "html"),
        ("text/csv", b"a,b", "text"),
        ("application/feed+json", b"{}", "text"),
        ("image/svg+xml", b"<svg/>", "text"),
        ("", b"  <!DOCTYPE html><p>", "html"),
        ("", b"words", "text"),
        ("application/octet-stream", b"%PDF-1.4", "pdf"),
        ("application/octet-stream", b"\x00\x01", None),
        ("text/plain", b"\x7fELF\x00\x00", None),
        ("image/png", b"words", None),
        ("application/zip", b"PK", None),
    ],
)
def test_kinds(content_type: str, body: bytes, kind: str | None) -> None:
    assert kind_of(Page(URL, 200, content_type, body)) == kind


async def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(NotReadable, match="image/png"):
        await read(b"\x89PNG\x00", "image/png")


@pytest.mark.parametrize("body", [b"%PDF-1.4 rubbish", b"%PDF-", pdf("x")[:200], b"%PDF-1.4\n" + os.urandom(5000)])
async def test_damaged_pdfs_are_refused(body: bytes) -> None:
    with pytest.raises(NotReadable):
        await read(body, "application/pdf")


async def test_a_page_too_much_for_the_parser_is_still_read() -> None:
    """Hundreds of thousands of open elements make every HTML5 parser quadratic."""
    began = time.perf_counter()
    got = await read("<p>before</p>" + "<div>" * 300_000 + "deep words", seconds=1.0)
    assert got.text.split() == ["before", "deep", "words"]
    assert "too complex" in got.note
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(
    "body",
    [
        "<p " + "x" * 4_000_000 + ">word",
        "word<p a='" + "x" * 4_000_000,
        "<p>word</p>" * 200_000,
        "&amp;" * 500_000 + "word",
        "word" + "<table>" * 50_000,
        "word" + "\u200b" * 1_000_000,
    ],
)
async def test_large_odd_pages_end(body: str) -> None:
    assert "word" in (await read(body, seconds=5.0)).text
