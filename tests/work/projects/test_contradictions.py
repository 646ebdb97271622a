"""When two results contradict each other, by their words alone."""

import pytest

from aster.work.projects.contradictions import found

CONTRADICT = [
    ("It is supported.", "It is not supported."),
    ("Python 3.13 is supported.", "Python 3.13 isn't supported."),
    ("The server supports TLS.", "The server does not support TLS."),
    ("The test passed.", "We looked. The test never passed!"),
    ("The bridge can carry two carts", "The bridge cannot carry two carts"),
]
AGREE = [
    ("It is not supported.", "It isn't supported."),
    ("Windows is supported.", "macOS is not supported."),
    ("It is supported.", "It is supported."),
    ("It is not unlikely; not so.", "Something else."),
    ("", "It is supported."),
    ("The test passed. The test did not pass at first.", "The test did not pass at first."),
]


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_these_contradict_either_way(one: str, other: str) -> None:
    for new, earlier in ((one, other), (other, one)):
        against = found(new, [("before", earlier)])
        assert against is not None
        assert against.name == "before"


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_these_do_not(one: str, other: str) -> None:
    assert found(one, [("before", other)]) is None
    assert found(other, [("before", one)]) is None


def test_a_long_text_costs_little() -> None:
    text = "word " * 50_000 + ". " + "It is so. " * 5_000
    assert found(text, [("before", text)] * 20) is None
