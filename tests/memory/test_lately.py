"""The same words within the hour are kept once; later, after forgetting, or with another number, they are kept."""

import pytest

from aster.brain.memory_records import MemoryRow
from aster.infra.secrets import Secrets
from aster.memory.drafts import Draft, row_of
from aster.memory.lately import FRESH_MS, MOST_WORDS, Lately

NOW = 1_800_000_000_000


def said(text: str, at: int = NOW) -> MemoryRow:
    draft = Draft("episode", {"description": text, "speaker": "user"}, task_id="t1", event_at=at)
    return row_of(draft, "ada", Secrets(), at)


@pytest.fixture
def lately() -> Lately:
    lately = Lately()
    lately.heard("ada", [said("I went running today.")])
    return lately


@pytest.mark.parametrize(
    "text", ["I went running today.", "i went  RUNNING today.", "[[id=7]] I went running today."]
)
def test_the_same_is_no_news_within_the_hour(lately: Lately, text: str) -> None:
    assert lately.again("ada", said(text, NOW + 1000))


def test_it_is_news_another_time_of_another_user_and_in_other_words(lately: Lately) -> None:
    assert not lately.again("ada", said("I went running today.", NOW + FRESH_MS))
    assert not lately.again("bob", said("I went running today."))
    assert not lately.again("ada", said("I went running 7 km today."))


def test_what_was_forgotten_is_news(lately: Lately) -> None:
    lately.forget("ada")
    assert not lately.again("ada", said("I went running today."))


def test_only_the_newest_are_known(lately: Lately) -> None:
    lately.heard("ada", [said(f"My guest number {n} has come.") for n in range(MOST_WORDS)])
    assert not lately.again("ada", said("I went running today."))
    assert lately.again("ada", said(f"My guest number {MOST_WORDS - 1} has come."))
