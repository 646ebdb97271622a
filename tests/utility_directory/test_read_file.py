"""Reading: raw text, pages, pictures, and clear refusals."""

import asyncio
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from aster.contracts.blocks import Base64Source, ImageBlock
from aster.sandbox.paths import Workspace
from aster.utility_directory.paging import PAGE_BYTES
from aster.utility_directory.pictures import MAX_IMAGE_BYTES
from aster.utility_directory.read_file import MAX_DOCUMENT_BYTES, PDF_PAGES
from tests.utility_directory.conftest import Bench, said, swapping
from tests.utility_directory.test_notebooks import PNG, book
from tests.utility_directory.test_web_reading import pdf


def put(bench: Bench, name: str, content: str | bytes) -> Path:
    path = bench.root / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("content", ["one\ntwo\n", "no newline", "\n", "ä€\r\n", "\ufeffmark\n", "a\u2028b\x0cc\n"])
async def test_text_is_returned_as_it_is(bench: Bench, content: str) -> None:
    path = put(bench, "f", content)
    assert await bench.text("read_file", path="f") == content
    assert await bench.text("read_file", path=str(path)) == content


async def test_an_empty_file_is_said_to_be_empty(bench: Bench) -> None:
    put(bench, "f", "")
    assert await bench.text("read_file", path="f") == "(empty file)"


async def test_a_part_has_a_header(bench: Bench) -> None:
    put(bench, "f", "".join(f"{n}\n" for n in range(1, 11)))
    assert await bench.text("read_file", path="f", offset=9) == "[f: lines 9-10 of 10]\n9\n10\n"
    first = await bench.text("read_file", path="f", limit=3)
    assert first == "[f: lines 1-3 of 10; read on with offset=4]\n1\n2\n3\n"
    assert await bench.text("read_file", path="f", limit=10) == "".join(f"{n}\n" for n in range(1, 11))
    assert await bench.error("read_file", path="f", offset=11) == ("out_of_range", "Error: f has only 10 lines.")


@pytest.mark.parametrize("last", ["end\n", "end"])
async def test_pages_put_together_are_the_file(bench: Bench, last: str) -> None:
    content = "".join(f"line {n} {'x' * (n % 200)}\n" for n in range(6000)) + last
    put(bench, "f", content)
    pages: list[str] = []
    offset = 1
    while True:
        header, _, page = (await bench.text("read_file", path="f", offset=offset)).partition("\n")
        assert len(page.encode()) <= PAGE_BYTES
        pages.append(page)
        assert " of 6,001" in header
        if "offset=" not in header:
            break
        offset = int(header.split("offset=")[1].rstrip("]"))
    assert "".join(pages) == content
    assert len(pages) > 10


async def test_a_line_that_is_too_long_is_cut_and_passed(bench: Bench) -> None:
    put(bench, "f", "first\n" + "x" * 200_000 + "\nlast\n")
    assert "lines 1-1 of 3; read on with offset=2" in await bench.text("read_file", path="f")
    second = await bench.text("read_file", path="f", offset=2)
    assert second.startswith("[f: lines 2-2 of 3; line 2 is too long and is cut")
    assert second.count("x") > PAGE_BYTES - 10
    assert await bench.text("read_file", path="f", offset=3) == "[f: lines 3-3 of 3]\nlast\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"caf\xe9 \x93x\x94\n", "[f: not UTF-8, shown as Latin-1 (Windows-1252)]\ncaf\u00e9 \u201cx\u201d\n"),
        (b"\xc3\xa9 \xe9\n", "[f: bytes that are not UTF-8 are shown as \ufffd]\n\u00e9 \ufffd\n"),
        ("\ufffd\n".encode(), "\ufffd\n"),
        ("\u00e4\nb\n".encode("utf-16"), "[f: UTF-16]\n\u00e4\nb\n"),
        (b"\xfe\xff" + "b".encode("utf-16-be"), "[f: UTF-16]\nb"),
        (b"\xff\xfe\x00\xd8\n\x00", "[f: UTF-16]\n\ufffd\n"),
    ],
)
async def test_other_letters_than_utf8(bench: Bench, data: bytes, expected: str) -> None:
    put(bench, "f", data)
    assert await bench.text("read_file", path="f") == expected


async def test_a_letter_cut_in_half_is_not_taken_for_another_encoding(bench: Bench) -> None:
    put(bench, "f", "a" + "\u00e9" * PAGE_BYTES)
    text = await bench.text("read_file", path="f")
    assert "UTF-8" not in text
    assert text.endswith("\u00e9" * 100)


async def test_a_binary_file_is_refused(bench: Bench) -> None:
    put(bench, "f", b"\x7fELF\x00\x01")
    reason, text = await bench.error("read_file", path="f")
    assert reason == "binary_file"
    assert "6 bytes" in text


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
    ],
)
async def test_a_picture_is_shown(bench: Bench, head: bytes, media_type: str) -> None:
    put(bench, "f", head)
    outcome = await bench.run("read_file", path="f")
    picture = outcome.output[1]
    assert isinstance(picture, ImageBlock)
    assert isinstance(picture.source, Base64Source)
    assert picture.source.media_type == media_type


async def test_a_huge_picture_is_refused(bench: Bench) -> None:
    put(bench, "f", b"\x89PNG\r\n\x1a\n" + b"\x00" * MAX_IMAGE_BYTES)
    assert (await bench.error("read_file", path="f"))[0] == "too_large"


async def test_what_is_not_there_or_not_a_file_is_said(bench: Bench) -> None:
    (bench.root / "directory").mkdir()
    os.mkfifo(bench.root / "pipe")
    assert (await bench.error("read_file", path="missing"))[0] == "not_found"
    assert (await bench.error("read_file", path="directory"))[0] == "not_a_file"
    assert (await bench.error("read_file", path="pipe"))[0] == "not_a_file"
    put(bench, "locked", "x").chmod(0)
    assert (await bench.error("read_file", path="locked"))[0] == "no_access"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "link", "a\x00b", "x" * 5000])
async def test_outside_is_refused(bench: Bench, path: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    reason, text = await bench.error("read_file", path=path)
    assert reason in ("path_refused", "io_error")
    assert "secret" not in text.replace(str(bench.root), "")


async def test_a_pdf_is_read_by_pages(bench: Bench) -> None:
    put(bench, "doc.pdf", pdf(*(f"Text {number}" for number in range(1, 31))))
    first = await bench.text("read_file", path="doc.pdf")
    assert first.startswith('[doc.pdf: PDF, pages 1-20 of 30; read on with pages="21-30"]\n## Page 1\n\nText 1\n')
    assert await bench.text("read_file", path="doc.pdf", pages="30") == (
        "[doc.pdf: PDF, pages 30-30 of 30]\n## Page 30\n\nText 30"
    )
    assert (await bench.text("read_file", path="doc.pdf", pages="2-3")).count("## Page") == 2
    assert (await bench.text("read_file", path="doc.pdf", pages="5-")).count("## Page") == PDF_PAGES
    assert (await bench.error("read_file", path="doc.pdf", pages="31-40")) == (
        "out_of_range",
        "Error: doc.pdf has only 30 pages.",
    )
    for wrong in ({"pages": "0"}, {"pages": "3-2"}, {"offset": 2}):
        assert (await bench.error("read_file", path="doc.pdf", **wrong))[0] == "invalid_input"
    put(bench, "text", "x")
    assert (await bench.error("read_file", path="text", pages="1"))[0] == "invalid_input"


async def test_a_long_pdf_is_cut_at_a_page(bench: Bench) -> None:
    put(bench, "doc.pdf", pdf(*("word " * 4000 for _ in range(5))))
    text = await bench.text("read_file", path="doc.pdf")
    assert text.startswith('[doc.pdf: PDF, pages 1-2 of 5; read on with pages="3-5"]')
    assert len(text) < PAGE_BYTES + 200


async def test_a_pdf_that_cannot_be_read_is_said(bench: Bench) -> None:
    locked = io.BytesIO()
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("secret words"))))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(locked)
    put(bench, "locked.pdf", locked.getvalue())
    put(bench, "broken.pdf", pdf("x")[:200])
    reason, text = await bench.error("read_file", path="locked.pdf")
    assert (reason, text) == ("not_readable", "Error: locked.pdf cannot be read: the PDF needs a password.")
    assert (await bench.error("read_file", path="broken.pdf"))[0] == "not_readable"
    with put(bench, "large.pdf", "%PDF-1.4").open("ab") as file:
        file.truncate(MAX_DOCUMENT_BYTES + 1)
    assert (await bench.error("read_file", path="large.pdf"))[0] == "too_large"


async def test_half_a_character_in_a_pdf_is_replaced(bench: Bench) -> None:
    table = "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <78> <D800> endbfchar"
    font = b"/BaseFont /Helvetica /ToUnicode 9 0 R >>"
    stream = f"\n9 0 obj\n<< /Length {len(table)} >>\nstream\n{table}\nendstream\nendobj\n".encode()
    body = pdf("axb").replace(b"/BaseFont /Helvetica >>", font).replace(b"xref\n0", stream + b"xref\n0", 1)
    put(bench, "f.pdf", body)
    assert (await bench.text("read_file", path="f.pdf")).endswith("## Page 1\n\na?b")


async def test_a_notebook_is_shown_by_cells_with_its_pictures(bench: Bench) -> None:
    put(bench, "n.ipynb", book({"data": {"image/png": PNG, "text/plain": "<Figure>"}}))
    outcome = await bench.run("read_file", path="n.ipynb")
    assert said(outcome).startswith(
        "[n.ipynb: a notebook of 2 cells, shown without its JSON]\n## Cell 1 (markdown)\n"
    )
    assert isinstance(outcome.output[1], ImageBlock)
    assert len((await bench.run("read_file", path="n.ipynb", limit=3)).output) == 1
    put(bench, "not.ipynb", '{"a": 1}\n')
    assert await bench.text("read_file", path="not.ipynb") == '{"a": 1}\n'


async def test_a_huge_file_with_holes_takes_no_time(bench: Bench) -> None:
    with put(bench, "holes", b"text\n" * 2000).open("ab") as file:
        file.truncate(1 << 40)
    with put(bench, "nothing", b"").open("ab") as file:
        file.truncate(1 << 40)
    assert "lines 1-3 of very many" in await bench.text("read_file", path="holes", limit=3)
    assert "out_of_range" in await bench.error("read_file", path="holes", offset=3000)
    assert "binary_file" in await bench.error("read_file", path="nothing")
    assert "not_a_file" in await bench.error("edit_file", path="holes", old_text="x", new_text="y")


async def test_a_device_is_refused(bench: Bench) -> None:
    devices = replace(bench.context, workspace=Workspace((Path("/dev"),), Path("/dev")))
    for tool, given in (("read_file", {}), ("grep", {"pattern": "x"}), ("write_file", {"content": "x"})):
        assert (await Bench(devices).error(tool, path="zero", **given))[0] == "not_a_file"


async def test_a_link_put_in_between_is_never_followed(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    secret.chmod(0o644)
    target = put(bench, "f", "harmless")
    with swapping(target, bench.root / "spare", secret):
        for _ in range(300):
            outcome = await bench.run("read_file", path="f")
            assert "SECRET" not in said(outcome)
            assert outcome.ok or outcome.reason == "path_refused", outcome


async def test_a_link_to_a_name_that_is_no_text(bench: Bench) -> None:
    odd = put(bench, os.fsdecode(b"odd\n\xff"), "a\nb\n")
    (bench.root / "link").symlink_to(odd)
    text = await bench.text("read_file", path="link", offset=2)
    assert text == '["odd\\n\\ufffd": lines 2-2 of 2]\nb\n'


async def test_ten_reads_at_once(bench: Bench) -> None:
    for number in range(10):
        put(bench, f"f{number}", f"{number}\n" * 10_000)
    texts = await asyncio.gather(*(bench.text("read_file", path=f"f{number}", limit=5) for number in range(10)))
    assert [text.splitlines()[1:] for text in texts] == [[str(number)] * 5 for number in range(10)]
