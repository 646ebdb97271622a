"""Shell examples, as they stand on their pages, typed into a real shell before a real engine."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks, blocks_of, typed
from tests.docs.stage import stage

PAGES = sorted({block.page for block in blocks("sh", "console") if block.reason is None})
NUMBERS = re.compile(r"\d+")


def shown(text: str) -> list[str]:
    """What a session prints, in the pieces between what its page leaves out; numbers are not compared."""
    lines = [
        line
        for line in text.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith(("$ ", "> "))
    ]
    return [NUMBERS.sub("0", piece).strip() for line in lines for piece in line.split("…") if piece.strip()]


@pytest.mark.parametrize("page", PAGES)
async def test_the_examples_of_a_page_run(page: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        for block in blocks_of(ROOT / page):
            if block.language not in ("sh", "console") or block.reason is not None:
                continue
            said = await here.shell(typed(block))
            if block.language == "console":
                printed = NUMBERS.sub("0", said)
                assert [piece for piece in shown(block.text) if piece not in printed] == [], said
