"""What a file is, told by its first bytes: names and declared types are claims.

A type is only given where the bytes leave no doubt between the kinds (image, document, audio, video); within text,
what somebody says it is holds.
"""

from typing import Final

from aster.utility_directory.pictures import image_type

_SAMPLE: Final = 1024
_STARTS: Final = (
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"\x00\x00\x01\xb3", "video/mpeg"),
)
_RIFFS: Final = {b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS: Final = {b"qt  ": "video/quicktime", b"M4A ": "audio/mp4", b"M4B ": "audio/mp4"}
_FRAME_SYNC: Final = 0xE0
_ADTS: Final = frozenset((0xF0, 0xF1, 0xF8, 0xF9))


def sniffed(data: bytes) -> str | None:
    """The media type of these bytes; `text/plain` for any text, None for what nobody can tell."""
    head = data[:_SAMPLE]
    picture = image_type(head)
    if picture is not None:
        return picture
    if b"%PDF-" in head:
        return "application/pdf"
    found = next((kind for magic, kind in _STARTS if head.startswith(magic)), None)
    if found is None and head[:4] == b"RIFF":
        found = _RIFFS.get(head[8:12])
    if found is None and head[4:8] == b"ftyp":
        found = _BRANDS.get(head[8:12], "video/mp4")
    return found or _sound(head) or _text(data)


def _sound(head: bytes) -> str | None:
    """MPEG audio without a header of its own begins with eleven bits set."""
    if len(head) < 2 or head[0] != 0xFF or head[1] & _FRAME_SYNC != _FRAME_SYNC:
        return None
    if head[1] in _ADTS:
        return "audio/aac"
    return "audio/mpeg" if head[1] & 0x06 and head[1] & 0x18 != 0x08 else None


def _text(data: bytes) -> str | None:
    if not data or b"\x00" in data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    return "text/plain"
