"""Themes: every name the command line knows is one, and a theme can be put on while others are worn."""

import io

from rich.console import Console

from aster.cli.live_options import THEMES as NAMES
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.screen.themes import THEMES


def test_the_command_line_knows_every_theme() -> None:
    assert tuple(THEMES) == NAMES


def test_a_theme_is_worn_until_the_next_one() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60, color_system="standard", no_color=False)
    surface = TerminalSurface(console, THEMES["dark"])
    written: list[str] = []
    for name in ("dark", "mono", "light"):
        surface.wear(THEMES[name])
        out.truncate(0)
        surface.said("hello")
        written.append(out.getvalue())
    assert "36m> hello" in written[0]
    assert "\x1b[1m> hello" in written[1]
    assert "34m> hello" in written[2]
