"""A route that a page names is one that the engine has."""

import re
from functools import cache
from urllib.parse import urlsplit

from aster.reference.http import document
from tests.docs.blocks import blocks, calls, inline, name, pages

NAMED = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (/[^\s?]*)")
OURS = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\w+\.example|\$ENGINE_URL)\b")
MARK = re.compile(r"\{[^}]*\}|…")

HIDDEN = {("GET", "/console"), ("POST", "/chat"), ("POST", "/api/feedback")}
"""Other ways to the same, which the description of the interface leaves out."""


@cache
def routes() -> set[tuple[str, str]]:
    described = {(method.upper(), path) for path, item in document()["paths"].items() for method in item}
    return described | HIDDEN


def exists(method: str, path: str) -> bool:
    """Whether there is such a route, whatever stands where a name goes."""
    asked = MARK.sub("x", path).rstrip("/").split("/")
    known = [route.split("/") for named, route in routes() if named == method]
    return any(len(parts) == len(asked) and all(map(_fits, parts, asked)) for parts in known)


def _fits(part: str, asked: str) -> bool:
    return part == asked or part.startswith("{")


def called(words: list[str]) -> list[tuple[str, str]]:
    """What a `curl` asks for."""
    urls = [word for word in words[1:] if OURS.match(word)]
    sends = any(word in ("-d", "-F", "--data-binary", "--json") for word in words)
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if sends else "GET"
    return [(method, urlsplit(url if "://" in url else f"http://{url}").path) for url in urls]


def test_routes_in_prose_exist() -> None:
    found = [(name(page), *match) for page in pages() for piece in inline(page) for match in NAMED.findall(piece)]
    assert len(found) > 60
    assert [one for one in found if not exists(one[1], one[2])] == []


def test_routes_in_commands_exist() -> None:
    found = [
        (block.where, *asked)
        for block in blocks("sh", "console")
        for words in calls(block)
        if words[0] == "curl"
        for asked in called(words)
    ]
    assert len(found) > 20
    assert [one for one in found if not exists(one[1], one[2])] == []
