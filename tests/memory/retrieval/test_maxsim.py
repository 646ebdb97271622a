import numpy as np
import pytest

from aster.memory.retrieval.maxsim import best_matches, packed, rarities, replied, weighted

RNG = np.random.default_rng(5)


def unit(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    found = RNG.standard_normal((count, 384)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_every_token_finds_its_own_record() -> None:
    records = [unit(4) for _ in range(5)]
    question = np.stack([records[2][1], records[4][3]])
    found = best_matches(question, [packed(record) for record in records])
    assert found.shape == (5, 2)
    assert found.argmax(axis=0).tolist() == [2, 4]
    assert found[2, 0] == pytest.approx(0.8, abs=0.05)


def test_signs_order_as_the_vectors_do() -> None:
    question, records = unit(1), [unit(1) for _ in range(200)]
    exact = np.array([float((record @ question.T)[0, 0]) for record in records])
    found = best_matches(question, [packed(record) for record in records])[:, 0]
    assert np.corrcoef(exact, found)[0, 1] > 0.75


def test_the_order_of_records_does_not_matter() -> None:
    question, records = unit(3), [packed(unit(n)) for n in (1, 5, 2)]
    assert np.allclose(best_matches(question, records)[::-1], best_matches(question, records[::-1]))


def test_a_rare_word_weighs_more_and_one_everybody_says_nothing_much() -> None:
    rare, known, common = rarities(["sunrise", "painting", "the"], {"paint": 10, "the": 100}, 100).tolist()
    assert rare > known > common >= 0


def test_a_word_nobody_said_may_count_for_less() -> None:
    full, half = (rarities(["sunrize", "painting"], {"paint": 10}, 100, share).tolist() for share in (1.0, 0.5))
    assert half[0] == pytest.approx(full[0] / 2)
    assert half[1] == full[1]


def test_a_reply_has_a_share_of_what_it_replies_to() -> None:
    matches = np.array([[0.8, 0.1], [0.2, 0.6], [0.3, 0.3]], np.float32)
    found = replied(matches, np.array([-1, 0, 1]), 0.5)
    assert np.allclose(found, [[0.8, 0.1], [0.4, 0.6], [0.3, 0.3]])
    assert np.array_equal(replied(matches, np.array([-1, 0, 1]), 0.0), matches)


def test_one_number_per_record_by_the_weights_of_the_tokens() -> None:
    matches = np.array([[0.8, 0.2], [0.2, 0.8]], np.float32)
    assert weighted(matches, np.array([3.0, 1.0], np.float32)).tolist() == pytest.approx([0.65, 0.35])
    assert weighted(matches, np.zeros(2, np.float32)).tolist() == [0.0, 0.0]
