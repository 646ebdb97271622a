"""The size of a picture from its first bytes, whatever its form, and none where they do not tell."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.herald.image_size import image_size

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
GIF = b"GIF89a" + struct.pack("<HH", 640, 480)
JPEG = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 480, 640)
LOSSY = b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 640, 480)
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 639 | 479 << 14)
EXTENDED = b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")


@pytest.mark.parametrize("head", [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED])
def test_every_form_tells_its_size(head: bytes) -> None:
    assert image_size(head) == (640, 480)
    assert image_size(head + bytes(100)) == (640, 480)


@pytest.mark.parametrize("head", [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED])
def test_half_a_header_tells_nothing(head: bytes) -> None:
    assert image_size(head[:-1]) is None


@pytest.mark.parametrize(
    "head", [b"", b"hello", b"\xff\xd8\x00\x00\x00\x00", PNG[:16] + bytes(8), LOSSY[:12] + b"VP9 "]
)
def test_what_is_no_picture_has_no_size(head: bytes) -> None:
    assert image_size(head) is None


@given(st.sampled_from([PNG[:12], JPEG[:2], LOSSY[:16], b"GIF89a"]), st.binary(max_size=200))
def test_whatever_follows_it_comes_to_an_end(head: bytes, rest: bytes) -> None:
    size = image_size(head + rest)
    assert size is None or min(size) > 0
