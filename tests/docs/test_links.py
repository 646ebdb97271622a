"""Links between pages lead somewhere, every page is in the navigation, and nobody's own machine is in them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.blocks import GENERATED, ROOT, name, pages

LINK = re.compile(r"!?\[[^\]]*\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []


def listed(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    below = entry.values() if isinstance(entry, dict) else entry
    return [page for one in below for page in listed(one)]


def test_every_page_is_in_the_navigation_once() -> None:
    there = [page.relative_to(ROOT / "docs").as_posix() for page in (*pages()[1:], *GENERATED.glob("*.md"))]
    assert sorted(listed(SITE["nav"])) == sorted(there)
