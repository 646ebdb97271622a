"""Text ends before the stop sequence that is complete first, whatever the cut."""

from hypothesis import given
from hypothesis import strategies as st

from aster.herald.protocols.stops import StopText


def _through(sequences: tuple[str, ...], *pieces: str) -> tuple[str, bool]:
    stops = StopText(sequences)
    return "".join([*map(stops.feed, pieces), stops.flush()]), stops.stopped


def test_text_without_stop_sequences_is_not_held_back() -> None:
    assert StopText(()).feed("a") == "a"
    assert StopText(("",)).feed("a") == "a"


def test_nothing_of_a_stop_sequence_is_shown() -> None:
    stops = StopText(("END",))
    assert (stops.feed("go E"), stops.feed("N")) == ("go ", "")
    assert (stops.feed("D on"), stops.feed("more"), stops.flush(), stops.stopped) == ("", "", "", True)


def test_what_only_looked_like_one_is_shown() -> None:
    stops = StopText(("END",))
    assert (stops.feed("EN"), stops.feed("Energy"), stops.flush()) == ("", "ENEnergy", "")
    assert _through(("END",), "the EN") == ("the EN", False)


def test_the_first_of_several_wins() -> None:
    assert _through(("two", "one"), "zero one two") == ("zero ", True)


@given(
    st.lists(st.text("ab", max_size=4), max_size=12), st.lists(st.text("ab", min_size=1, max_size=3), min_size=1)
)
def test_any_cut_gives_the_same_text(pieces: list[str], sequences: list[str]) -> None:
    whole = "".join(pieces)
    found = [(whole.find(stop) + len(stop), whole.find(stop)) for stop in sequences if stop in whole]
    shown = whole[: min(found)[1]] if found else whole
    assert _through(tuple(sequences), *pieces) == (shown, bool(found))
    assert _through(tuple(sequences), whole) == _through(tuple(sequences), *whole)
