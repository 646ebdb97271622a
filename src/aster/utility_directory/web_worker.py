"""The program that turns a page into text, in a process of its own: one that makes a parser run for ever or crash
takes nothing else with it.

Its first argument says how; the bytes come on standard input, the answer goes to standard output as JSON. Its time
and memory are limited, and it has given up the engine's rights before it takes the page apart.
"""

import json
import logging
import os
import resource
import sys
from typing import Any

_MEMORY = 1 << 30
_CHARS = 2_000_000


def main() -> None:
    request: dict[str, Any] = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    body = sys.stdin.buffer.read()
    found = _pdf(body, request) if request["kind"] == "pdf" else _html(body, request)
    found["text"] = found["text"][:_CHARS]
    sys.stdout.buffer.write(json.dumps(found).encode())


def _pdf(body: bytes, request: dict[str, Any]) -> dict[str, Any]:
    from aster.utility_directory.web_pdf import Unreadable, load_all, text_of_pdf

    logging.disable()
    load_all()
    _step_down(request)
    try:
        found = text_of_pdf(body, **request["span"])
    except Unreadable as problem:
        return {"text": "", "problem": str(problem)}
    return found._asdict()


def _html(body: bytes, request: dict[str, Any]) -> dict[str, Any]:
    from aster.utility_directory.web_html import readable
    from aster.utility_directory.web_text import decode

    markup = decode(body, request["content_type"], markup=True)
    _step_down(request)
    page = readable(markup, request["url"])
    return {"title": page.title, "text": page.text, "hidden": page.hidden}


def _step_down(request: dict[str, Any]) -> None:
    """From here on no file can be opened; what is needed has been loaded, from where only the engine may look."""
    if request["uid"] is not None:
        os.setgroups([])
        os.setgid(request["gid"])
        os.setuid(request["uid"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


if __name__ == "__main__":
    main()
