"""An index that was changed often is the same as one made at once."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.memory.passages.chunks import Passage, passages
from aster.memory.passages.index import IndexDamaged, IndexUnusable, PassageIndex, attempt

TEXT = st.lists(st.sampled_from(["red", "green", "blue", "parseCall", "x_y", "雪", "the"]), max_size=12).map(
    " ".join
)
CHANGES = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | TEXT), max_size=20)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[PassageIndex]:
    made = PassageIndex(tmp_path / "i.sqlite")
    yield made
    made.close()


def put(index: PassageIndex, name: str, text: str, stamp: str = "1") -> None:
    index.replace((), [(name.encode(), name, stamp, passages(text))])


def scores(index: PassageIndex) -> list[tuple[bytes, float]]:
    found = index.by_words("red parse_call snow x", 100)
    behind = index.found(found)
    return sorted((behind[number].path, round(score, 9)) for number, score in found.items())


@settings(max_examples=25, deadline=None)
@given(CHANGES)
def test_changes_leave_no_trace(changes: list[tuple[str, str | None]]) -> None:
    state: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as directory:
        changed, fresh = PassageIndex(Path(directory, "a.sqlite")), PassageIndex(Path(directory, "b.sqlite"))
        for name, text in changes:
            if text is None:
                state.pop(name, None)
                changed.replace([name.encode()], ())
            else:
                state[name] = text
                put(changed, name, text)
        for name, text in state.items():
            put(fresh, name, text)
        assert scores(changed) == scores(fresh)
        assert changed.extent() == fresh.extent()
        assert changed.stamps() == fresh.stamps()
        changed.close()
        fresh.close()


def vectors(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return np.eye(count, 4, dtype=np.float32)


def test_an_unchanged_passage_keeps_its_vector(index: PassageIndex) -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    put(index, "a", text)
    index.made_by("one")
    index.keep(list(index.pending(9)), vectors(3))
    assert index.extent().pending == 0
    put(index, "a", text + "\nand more", "2")
    assert index.extent().pending == 1
    assert index.stamps() == {b"a": "2"}


def test_vectors_of_another_embedder_are_dropped(index: PassageIndex) -> None:
    put(index, "a", "red")
    index.made_by("one")
    index.keep(list(index.pending(9)), vectors(1))
    index.made_by("one")
    assert index.extent().pending == 0
    index.made_by("two")
    assert index.extent().pending == 1


def test_the_likely_get_their_vectors_first(index: PassageIndex) -> None:
    for name in "abc":
        put(index, name, "red")
    assert list(index.pending(2, [3])) == [3, 1]


def test_the_nearest_and_those_asked_for_have_their_cosines(index: PassageIndex) -> None:
    index.replace((), [(b"a", "a", "1", [Passage(n, n, f"text {n}") for n in (1, 2, 3)]), (b"b", "b", "1", [])])
    index.keep([1, 2, 3], vectors(3))
    asked = np.array([0.1, 0.9, 0.2, 0], dtype=np.float32)
    assert index.by_meaning(asked, 1, also=[1, 7]) == pytest.approx({2: 0.9, 1: 0.1}, abs=1e-3)
    assert index.by_meaning(asked, 5, within=[2]) == {}
    assert index.by_meaning(np.ones(3, dtype=np.float32), 5) == {}


def test_failures_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "bad.sqlite").write_bytes(b"no index" * 1000)
    with pytest.raises(IndexDamaged):
        attempt(PassageIndex, tmp_path / "bad.sqlite")
    (tmp_path / "directory.sqlite").mkdir()
    with pytest.raises(IndexUnusable):
        attempt(PassageIndex, tmp_path / "directory.sqlite")
