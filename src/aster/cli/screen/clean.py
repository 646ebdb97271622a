"""Text from a model or a tool, made safe for a terminal.

Such text is somebody else's: an escape sequence in it could rewrite the screen, the title or the clipboard, and a
turn of the reading direction, or a sign that takes no room, could make a command look like another. Control characters
become visible signs; line ends and tabs stay, and the joiners that scripts and emoji are written with.
"""

_KEPT = frozenset("\n\t")
_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that turn the reading direction of what is beside them or follows."""
_UNSEEN = (
    *(0x00AD, 0x180E, 0x200B, 0x2028, 0x2029, 0xFEFF, *range(0x2060, 0x2066), *range(0x206A, 0x2070)),
    *(*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)),
)
"""Characters that take no room, and line ends of another kind."""
_HALVES = range(0xD800, 0xE000)
"""Halves of characters, which cannot be written at all."""
_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x80, 0xA0), *_TURNS, *_UNSEEN, *_HALVES), "\ufffd"),
}


def clean(text: str) -> str:
    """The same text, with nothing in it that a terminal would obey."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str, width: int) -> str:
    """Text on one line of at most `width` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(width - 1, 1)] + "…"
