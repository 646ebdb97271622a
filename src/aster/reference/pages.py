"""Which pages there are, and whether they still say what the code says."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from aster.reference import command_line, errors, events, http, metrics, settings, tools, typescript

PAGES: Final[dict[str, Callable[[], str]]] = {
    "events.md": events.render,
    "errors.md": errors.render,
    "settings.md": settings.render,
    "cli.md": command_line.render,
    "metrics.md": metrics.render,
    "tools.md": tools.render,
    "openapi.md": http.render,
    "openapi.json": http.render_document,
    "../../web/packages/client/src/wire.ts": typescript.render,
}


def write(folder: Path) -> list[str]:
    """Bring every page up to date; returns those that were not."""
    stale = check(folder)
    for name in stale:
        (folder / name).parent.resolve().mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PAGES[name](), encoding="utf-8")
    return stale


def check(folder: Path) -> list[str]:
    """The pages that are missing or no longer true."""
    return [name for name, render in PAGES.items() if _read(folder / name) != render()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
