"""Reading: raw text, pages, pictures, and clear refusals."""

import os
from pathlib import Path

import pytest

from aster.contracts.blocks import Base64Source, ImageBlock
from aster.utility_directory.read_file import MAX_IMAGE_BYTES, PAGE_BYTES
from tests.utility_directory.conftest import Bench


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


async def test_bytes_that_are_not_text_are_shown_as_such(bench: Bench) -> None:
    put(bench, "f", b"caf\xe9\n")
    assert (
        await bench.text("read_file", path="f") == "[f: bytes that are not UTF-8 are shown as \ufffd]\ncaf\ufffd\n"
    )


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
