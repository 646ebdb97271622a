"""A text in parts: nothing is lost but space, no part is too long, and it is cut where it reads well."""

import random

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.memory.documents import MOST, PART, cut


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    pieces = ("word", "a", "Sentence ends. ", "\n\n", " ", "\n", "漢字かな。", "x" * 1500)
    text = "".join(chance.choices(pieces, k=800))
    parts = list(cut(text))
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(part) <= PART for part in parts)


def test_it_is_cut_between_paragraphs() -> None:
    paragraphs = [f"{n}. " + "words and words, " * 40 for n in range(6)]
    assert [part[0] for part in cut("\n\n".join(paragraphs))] == ["0", "1", "2", "3", "4", "5"]


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(EngineError) as refused:
        list(cut("x" * (MOST + 1)))
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_nothing_has_no_parts() -> None:
    assert list(cut(" \n ")) == []
