"""The built site needs nobody else: no fonts, scripts, styles or pictures of another host, and search is in it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

SITE = ROOT / "dist" / "site"
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}
FOREIGN = re.compile(r"""url\(\s*["']?(?:https?:)?//|@import\s+["'](?:https?:)?//""")

pytestmark = pytest.mark.site


class Requests(HTMLParser):
    """What a browser fetches for a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(FETCHED.get(tag, ""))
        if address:
            self.found.append(address)


def test_pages_ask_no_other_host_for_anything() -> None:
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 60
    foreign = {
        (page.name, address)
        for page in pages
        for address in Requests(page).found
        if address.startswith(("http:", "https:", "//"))
    }
    assert foreign == set()


def test_styles_ask_no_other_host_for_anything() -> None:
    styles = [*SITE.rglob("*.css"), *SITE.rglob("*.html")]
    assert [style.name for style in styles if FOREIGN.search(style.read_text())] == []


def test_search_knows_the_pages() -> None:
    index = json.loads((SITE / "search" / "search_index.json").read_text())
    titles = {entry["location"].split("#")[0] for entry in index["docs"]}
    assert {"quickstart.html", "howto/embed.html", "reference/settings.html"} <= titles


def test_it_can_be_read_in_the_light_and_in_the_dark() -> None:
    start = (SITE / "index.html").read_text()
    assert 'data-md-color-scheme="slate"' in start
    assert 'data-md-color-scheme="default"' in start
