"""The theme a person likes: the one named now, or the one kept from before."""

from pathlib import Path

from aster.cli.screen.themes import THEMES, USUAL, Theme

_FILE = "chat-theme"


def chosen_theme(name: str | None, data: Path) -> Theme:
    """The theme by name; without one, what was kept, or the usual one."""
    return THEMES[name or kept(data) or USUAL]


def kept(data: Path) -> str | None:
    """The name of the theme that was kept, if it is one."""
    try:
        name = (data / _FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if name in THEMES else None


def keep(name: str, data: Path) -> None:
    """Use this one from the next time on."""
    data.mkdir(parents=True, exist_ok=True)
    (data / _FILE).write_text(f"{name}\n", encoding="utf-8")
