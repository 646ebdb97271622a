import numpy as np
import pytest
from numpy.typing import NDArray

from aster.memory.retrieval.rows import Rows
from aster.memory.retrieval.shelf import Item


def vectors(count: int, dimensions: int = 384, seed: int = 1) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def shelf(count: int, session: int = 5, seed: int = 1) -> tuple[Rows, list[Item], NDArray[np.float32]]:
    rows = Rows(384)
    items = [Item(n, f"text {n}", f"who{n % 2}", n * 1000, str(n // session), n) for n in range(count)]
    found = vectors(count, seed=seed)
    rows.add(items, found)
    return rows, items, found


def beside(rows: Rows, number: int) -> tuple[int | None, int | None]:
    before, after = (int(one[0]) for one in rows.beside(rows.places([number])))
    known = rows.ids(np.array([max(before, 0), max(after, 0)])).tolist()
    return (known[0] if before >= 0 else None, known[1] if after >= 0 else None)


def test_eight_bits_are_nearly_exact() -> None:
    rows, _, found = shelf(300)
    assert np.allclose(rows.cosines(rows.places(range(300)), found[7]), found @ found[7], atol=0.004)


def test_the_nearest_of_many_are_found_by_their_signs() -> None:
    rows, _, found = shelf(6000)
    asked = found[100] + 0.3 * vectors(1, seed=9)[0]
    asked /= np.linalg.norm(asked)
    exact = set(np.argsort(-(found @ asked))[:10].tolist())
    near = rows.ids(rows.nearest(asked, 200)).tolist()
    assert len(near) == 200
    assert 100 in near
    assert len(exact & set(near)) >= 8


def test_the_neighbours_are_those_of_the_session_whatever_the_order_of_coming() -> None:
    straight, items, found = shelf(20)
    mixed = Rows(384)
    order = np.random.default_rng(3).permutation(20)
    for part in np.array_split(order, 4):
        mixed.add([items[n] for n in part], found[part])
        mixed.beside(mixed.places([int(part[0])]))
    for number in range(20):
        expected = (number - 1 if number % 5 else None, number + 1 if number % 5 < 4 else None)
        assert beside(straight, number) == beside(mixed, number) == expected


def test_what_is_removed_is_never_found_and_its_neighbours_close_up() -> None:
    rows, _, found = shelf(10)
    rows.remove([2, 99])
    assert len(rows) == 9
    assert 2 not in rows.ids(rows.nearest(found[2], 10))
    assert beside(rows, 1) == (0, 3)
    assert rows.places([2]).size == 0


def test_room_is_given_back_and_nothing_else_changes() -> None:
    rows, _, found = shelf(200)
    rows.remove(range(120))
    assert len(rows) == 80
    assert sorted(rows.ids(rows.nearest(found[150], 200)).tolist()) == list(range(120, 200))
    assert np.allclose(rows.vectors(rows.places([150]))[0], found[150], atol=0.002)


def test_a_record_that_comes_again_replaces_itself() -> None:
    rows, items, found = shelf(10)
    rows.add([items[3]], found[4:5])
    assert len(rows) == 10
    assert rows.cosines(rows.places([3]), found[4])[0] == pytest.approx(1.0, abs=0.01)


def test_a_span_of_time_gives_its_latest_records() -> None:
    rows, _, _ = shelf(10)
    assert rows.ids(rows.within(2000, 8000, 3)).tolist() == [7, 6, 5]
    assert rows.ids(rows.within(20_000, 30_000, 3)).tolist() == []


def test_who_said_it_is_told_without_case() -> None:
    rows, _, _ = shelf(4)
    assert rows.said_by(rows.places(range(4)), ["WHO1", "nobody"]).tolist() == [False, True, False, True]


def test_nothing_at_all_can_be_asked_too() -> None:
    rows = Rows(384)
    assert len(rows) == 0
    assert rows.nearest(vectors(1)[0], 10).size == 0


def test_records_of_no_session_have_no_neighbours() -> None:
    rows = Rows(384)
    rows.add([Item(n, f"text {n}", position=n) for n in range(4)], vectors(4))
    rows.add([Item(n, f"text {n}", session="a", position=n) for n in (4, 5)], vectors(2))
    assert [beside(rows, number) for number in range(6)] == [(None, None)] * 4 + [(None, 5), (4, None)]
    assert len(set(rows.sessions(rows.places(range(6))).tolist())) == 5
