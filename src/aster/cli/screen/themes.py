"""Themes: which colour each kind of thing has, on a dark ground, on a light one, or on none.

Colours are those of the terminal's own palette, so a theme never fights the person's; with NO_COLOR set, or in
`mono`, only bold and dim are left.
"""

from typing import NamedTuple

from rich import theme as rich_theme


class Theme(NamedTuple):
    said: str
    thinking: str
    quiet: str
    good: str
    bad: str
    asked: str
    added: str
    removed: str
    code: str
    """The name of the colours that code blocks have."""
    inline_code: str
    colourless: bool = False

    def styles(self) -> rich_theme.Theme:
        """What Markdown looks like in it."""
        names = ("markdown.code", "markdown.code_block")
        return rich_theme.Theme(dict.fromkeys(names, self.inline_code))


THEMES = {
    "dark": Theme(
        said="bold cyan",
        thinking="dim italic",
        quiet="dim",
        good="green",
        bad="red",
        asked="bold yellow",
        added="green",
        removed="red",
        code="ansi_dark",
        inline_code="bold cyan",
    ),
    "light": Theme(
        said="bold blue",
        thinking="bright_black italic",
        quiet="bright_black",
        good="green",
        bad="red",
        asked="bold magenta",
        added="green",
        removed="red",
        code="ansi_light",
        inline_code="bold blue",
    ),
    "contrast": Theme(
        said="bold bright_cyan",
        thinking="italic",
        quiet="none",
        good="bold bright_green",
        bad="bold bright_red",
        asked="bold reverse",
        added="bold bright_green",
        removed="bold bright_red",
        code="ansi_dark",
        inline_code="bold bright_cyan",
    ),
    "mono": Theme(
        said="bold",
        thinking="dim italic",
        quiet="dim",
        good="bold",
        bad="bold",
        asked="bold",
        added="bold",
        removed="dim",
        code="bw",
        inline_code="bold",
        colourless=True,
    ),
}
USUAL = "dark"
