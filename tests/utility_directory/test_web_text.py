"""Which letters bytes are, what is no text at all, and words without a parser."""

import time

import pytest

from aster.utility_directory.web_text import decode, is_binary, stripped


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("grün".encode(), "text/html", "grün"),
        ("grün".encode("latin-1"), "text/html", "grün"),
        ("grün".encode("latin-1"), "text/html; charset=ISO-8859-1", "grün"),
        ("“x”".encode("cp1252"), "text/html; charset=iso-8859-1", "“x”"),
        ("привет".encode("koi8-r"), "text/html; charset=koi8-r", "привет"),
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", "日本"),
        ("中文".encode("gb18030"), "text/html; charset=gb2312", "中文"),
        (b"\xef\xbb\xbfx", "text/html; charset=latin-1", "x"),
        ("\ufeffx".encode("utf-16-le"), "text/html", "x"),
        ("grün".encode(), "text/html; charset=unicode_escape", "grün"),
        (b"x", "text/html; charset=zip", "x"),
        ("grün".encode(), 'text/html; charset="utf-8"', "grün"),
        (b"a\xffb", "text/html; charset=utf-8", "a\ufffdb"),
    ],
)
def test_charsets(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


def test_a_page_may_say_its_own_charset() -> None:
    page = '<meta charset="windows-1251"><p>привет'.encode("cp1251")
    assert "привет" in decode(page, "text/html", markup=True)
    other = '<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">한국'.encode("euc-kr")
    assert "한국" in decode(other, "text/html", markup=True)


def test_binary() -> None:
    assert is_binary(b"\x89PNG\r\n\x1a\n\x00\x00")
    assert is_binary(bytes(range(1, 32)) * 10)
    assert not is_binary("grün\n\t".encode() * 100)
    assert not is_binary(b"\xff\xfeh\x00i\x00")
    assert not is_binary(b"")


def test_words_without_a_parser() -> None:
    markup = "<h1>Title</h1><script>if (a<b) x()</script><p>one<!-- no -->two</p><STYLE>p{}</STYLE>end İ <b>x"
    assert stripped(markup).split() == ["Title", "onetwo", "end", "İ", "x"]


@pytest.mark.parametrize("piece", ["<script>", "<!--", "<", "<a ", "<style></style>"])
def test_stripping_takes_one_pass(piece: str) -> None:
    began = time.perf_counter()
    stripped(piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - began < 5
