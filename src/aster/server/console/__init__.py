"""The console: a page to talk to the agent in a browser, as static files without a build step.

The files hold no data and are served without a key; this list is all that is served. Everything the page shows it
asks of the documented routes, with the visitor's own key.
"""

from importlib.resources import files
from typing import Final

PATH: Final = "/console"
PAGE: Final = "index.html"
ASSETS: Final = {
    "console.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(
        (
            "api.js",
            "ask.js",
            "dom.js",
            "follow.js",
            "inline.js",
            "main.js",
            "markdown.js",
            "sse.js",
            "tasks.js",
            "thread.js",
            "view.js",
        ),
        "text/javascript",
    ),
}
OPEN_PATHS: Final = frozenset({"/", PATH, *(f"{PATH}/{name}" for name in ASSETS)})


def read(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()
