"""Passages by their words."""

from aster.memory.ingested import ranked

TEXTS = {
    "a": "The harbour is closed in winter. Ships wait outside.",
    "b": "The password of the lighthouse is heliotrope.",
    "c": "A lighthouse stands on the rock; the lighthouse keeper sleeps.",
    "d": "parse_tool_call reads what parseToolCall wrote.",
}


def test_the_rarest_words_decide() -> None:
    assert ranked(TEXTS, "What is the password of the lighthouse?")[:2] == ["b", "c"]
    assert ranked(TEXTS, "parse tool call") == ["d"]


def test_what_shares_no_word_is_left_out() -> None:
    assert ranked(TEXTS, "zebra") == []
    assert ranked({}, "zebra") == []
    assert ranked(TEXTS, "") == []
