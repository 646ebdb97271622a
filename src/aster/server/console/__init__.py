"""The console: a page to talk to the agent in a browser, built from `web/` into the folder `app`.

Its files hold no data and are served without a key; everything the page shows it asks of the documented routes, with
the visitor's own key. Only files of the build can be named: one of its top, or one in `assets`, whose names change
whenever their contents do.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

PATH: Final = "/console"
PAGE: Final = "index.html"

_FILE: Final = re.compile(r"(assets/)?[A-Za-z0-9_-][A-Za-z0-9._-]*\.(?P<kind>[a-z0-9]+)")
_PLACE: Final = re.compile(r"[a-z]*(/.*)?")
_KINDS: Final = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "png": "image/png",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    kind: str
    lasting: bool
    """Whether its name says what is in it, so that it never changes."""


def is_open(path: str) -> bool:
    """Whether a path is the console's, so that it is answered without a key."""
    return path in ("/", PATH) or path.startswith(f"{PATH}/")


def find(name: str, folder: Path | None = None) -> File | None:
    """The file a path below the console means: one of the build, or its page for a place inside the console."""
    build: Traversable = files(__name__) / "app" if folder is None else folder
    fits = _FILE.fullmatch(name)
    if fits is None and not name.startswith("assets") and _PLACE.fullmatch(name):
        name, fits = PAGE, _FILE.fullmatch(PAGE)
    kind = _KINDS.get(fits["kind"]) if fits else None
    if kind is None:
        return None
    try:
        content = build.joinpath(*name.split("/")).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None
    return File(content, kind, name.startswith("assets/"))
