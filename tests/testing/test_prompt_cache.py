"""The scripted prompt cache: what is the same from the beginning up to a mark is read, everything else is not."""

from typing import Any

from aster.testing.prompt_cache import LOOK_BACK, PromptCache

MARK = {"cache_control": {"type": "ephemeral"}}


def body(*texts: str, marked: int = -1, system: str = "be good") -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    parts[marked] |= MARK
    return {
        "model": "m",
        "system": [{"type": "text", "text": system}],
        "messages": [{"role": "user", "content": parts}],
    }


def test_a_grown_prompt_reads_what_was_marked_before() -> None:
    cache = PromptCache()
    first = cache.count(body("a" * 4000))
    assert (first.cache_read, first.input) == (0, 0)
    assert first.cache_write > 1000
    second = cache.count(body("a" * 4000, "b" * 400))
    assert second.cache_read == first.cache_write
    assert 0 < second.cache_write < 200


def test_a_change_at_the_top_reads_nothing() -> None:
    cache = PromptCache()
    cache.count(body("a" * 4000))
    assert cache.count(body("a" * 4000, system="be bad")).cache_read == 0


def test_what_stands_behind_the_last_mark_is_plain_input() -> None:
    counted = PromptCache().count(body("a" * 4000, "b" * 4000, marked=0))
    assert counted.input > 1000
    assert counted.cache_write > 1000


def test_without_a_mark_near_by_nothing_is_found() -> None:
    cache = PromptCache()
    cache.count(body("a"))
    many = [f"text {number}" for number in range(LOOK_BACK + 1)]
    assert cache.count(body("a", *many)).cache_read == 0
    assert cache.count(body("a", *many[: LOOK_BACK // 2])).cache_read > 0
