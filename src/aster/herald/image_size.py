"""How large a picture is, read from its first bytes and nothing more.

A header that lies or stops short gives no size, never an error: whoever asks takes the most a picture can cost.
"""

from struct import error, unpack_from

Size = tuple[int, int]

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_size(head: bytes) -> Size | None:
    """Width and height in pixels of a PNG, GIF, JPEG or WebP; None if these bytes do not tell."""
    try:
        size = _size(head)
    except error:
        return None
    return size if size is not None and min(size) > 0 else None


def _size(head: bytes) -> Size | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return unpack_from(">II", head, 16)
    if head.startswith(b"GIF8"):
        return unpack_from("<HH", head, 6)
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return None


def _jpeg(head: bytes) -> Size | None:
    """Walks over the segments to the one that says the size."""
    at = 2
    while True:
        mark, kind, length = unpack_from(">BBH", head, at)
        if mark != 0xFF:
            return None
        if kind in _JPEG_SIZES:
            height, width = unpack_from(">HH", head, at + 5)
            return width, height
        at += 1 if kind == 0xFF else 2 + max(length, 2)


def _webp(head: bytes) -> Size | None:
    match head[12:16]:
        case b"VP8 ":
            width, height = unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = unpack_from("<I", head, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            low, mid, high, low_2, mid_2, high_2 = unpack_from("<6B", head, 24)
            return (low | mid << 8 | high << 16) + 1, (low_2 | mid_2 << 8 | high_2 << 16) + 1
        case _:
            return None
