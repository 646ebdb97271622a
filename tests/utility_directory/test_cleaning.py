"""What a tool said, cleaned before anything is made of it."""

import pytest

from aster.contracts.blocks import ImageBlock, TextBlock, UrlSource
from aster.contracts.tools import ToolOutcome
from aster.infra.secrets import Secrets
from aster.utility_directory.cleaning import PIECE, clean_outcome, clean_text

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize("before", [0, 10, PIECE - 60, PIECE - 20, PIECE - 1, PIECE, 3 * PIECE - 30])
async def test_a_secret_is_found_in_a_text_of_any_length(before: int) -> None:
    filler = ("ordinary words\n" * (before // 15 + 1))[:before]
    text = f"{filler} {TOKEN} {'and more words ' * 9000}"
    assert await clean_text(Secrets(), text) == text.replace(TOKEN, "[redacted: github token]")


async def test_an_outcome_is_cleaned_in_all_its_parts() -> None:
    picture = ImageBlock(source=UrlSource(url="https://x/y.png"))
    outcome = ToolOutcome(ok=True, output=(TextBlock(text=f"a {TOKEN}"), picture), data={"lines": [TOKEN], "n": 3})
    cleaned = await clean_outcome(Secrets(), outcome)
    assert cleaned.output == (TextBlock(text="a [redacted: github token]"), picture)
    assert cleaned.data == {"lines": ["[redacted: github token]"], "n": 3}


async def test_an_outcome_without_secrets_is_the_same_object() -> None:
    outcome = ToolOutcome.text("exit 0", {"exit_code": 0})
    assert await clean_outcome(Secrets(), outcome) is outcome
