"""The budget of one step's results: the largest go first, until the rest fits, and each can be read whole."""

from aster.engine_core.compaction.result_budget import BATCH_CHARS, budgeted, over
from tests.engine_core.compaction.made import bare, calls, model, person, results, shown, whole

SIZES = {"a": 30_000, "b": 90_000, "c": 20_000, "d": 80_000, "e": 1_000}


def batch() -> list:
    given = results(*((name, name * size) for name, size in SIZES.items()))
    return [person("go"), calls(*SIZES), given]


def test_the_largest_go_until_the_rest_fits() -> None:
    messages, kept = budgeted(batch(), BATCH_CHARS)
    assert [content.data for content in kept] == [b"b" * 90_000]
    assert len(shown(messages[2])) <= BATCH_CHARS
    assert f"artifact:{kept[0].artifact.id}" in shown(messages[2])
    assert "a" * 30_000 in shown(messages[2])
    assert whole(messages)


def test_a_smaller_limit_takes_more() -> None:
    messages, kept = budgeted(batch(), 40_000)
    assert [content.data[:1] for content in kept] == [b"b", b"d", b"a"]
    assert not over(messages, 40_000)


def test_what_was_answered_or_fits_is_left_alone() -> None:
    answered = [*batch(), model("I see")]
    assert not over(answered, 10)
    messages, kept = budgeted(answered, 10)
    assert [bare(item) for item in messages] == answered
    assert not kept
    assert not over(batch(), 300_000)
