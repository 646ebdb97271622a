"""Text from a model or a tool, made safe for a terminal.

Such text is somebody else's: an escape sequence in it could rewrite the screen, the title or the clipboard. Control
characters become visible signs; line ends and tabs stay.
"""

_KEPT = frozenset("\n\t")
_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
}


def clean(text: str) -> str:
    """The same text, with nothing in it that a terminal would obey."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str, width: int) -> str:
    """Text on one line of at most `width` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(width - 1, 1)] + "…"
