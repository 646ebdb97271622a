"""Files are known by their first bytes."""

import pytest

from aster.media.sniffing import sniffed
from tests.media.samples import MP4, WAV, picture
from tests.utility_directory.test_web_reading import pdf


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (picture("PNG"), "image/png"),
        (picture("JPEG"), "image/jpeg"),
        (picture("WEBP"), "image/webp"),
        (picture("GIF", mode="P"), "image/gif"),
        (pdf("x"), "application/pdf"),
        (b"\xef\xbb\xbf\n" + pdf("x"), "application/pdf"),
        (WAV, "audio/wav"),
        (b"RIFF\x00\x00\x00\x00AVI " + bytes(8), "video/x-msvideo"),
        (b"RIFF\x00\x00\x00\x00what" + bytes(8), None),
        (b"ID3\x04" + bytes(20), "audio/mpeg"),
        (b"\xff\xfb\x90\x64" + bytes(20), "audio/mpeg"),
        (b"\xff\xf1\x50\x80" + bytes(20), "audio/aac"),
        (b"\xff\xff\xff\xff" + b"\x00", "audio/mpeg"),
        (b"\xff\xe8\x00\x00", None),
        (b"OggS" + bytes(8), "audio/ogg"),
        (b"fLaC" + bytes(8), "audio/flac"),
        (MP4, "video/mp4"),
        (b"\x00\x00\x00\x18ftypqt  " + bytes(8), "video/quicktime"),
        (b"\x00\x00\x00\x18ftypM4A " + bytes(8), "audio/mp4"),
        (b"\x1aE\xdf\xa3" + bytes(8), "video/webm"),
        (b"\x00\x00\x01\xba" + bytes(8), "video/mpeg"),
        ("Grüße".encode(), "text/plain"),
        (b"MZ\x90\x00\x03", None),
        (b"\x80\x81", None),
        (b"", None),
    ],
)
def test_types(data: bytes, expected: str | None) -> None:
    assert sniffed(data) == expected
