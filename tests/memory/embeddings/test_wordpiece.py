"""The numbers a text becomes, as the tokenizer the model was trained with gives them."""

import pytest

from aster.memory.embeddings.wordpiece import WordPiece


@pytest.fixture(scope="module")
def tokens() -> WordPiece:
    return WordPiece()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [101, 102]),
        ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
        ("unaffable paraphrases", [101, 14477, 20961, 3468, 11498, 8458, 23797, 2015, 102]),
        (
            "def parse_tool_call(x): return x['a']",
            [
                101,
                13366,
                11968,
                3366,
                1035,
                6994,
                1035,
                2655,
                1006,
                1060,
                1007,
                1024,
                2709,
                1060,
                1031,
                1005,
                1037,
                1005,
                1033,
                102,
            ],
        ),
        ("Crème brûlée à la carte", [101, 13675, 21382, 7987, 9307, 2063, 1037, 2474, 11122, 2063, 102]),
        ("雪が降る tonight", [101, 100, 1651, 100, 1687, 3892, 102]),
        ("a\x00b\u200bc\ufffdd\te", [101, 5925, 2094, 1041, 102]),
        ("¿qué? «sí» — no…", [101, 1094, 10861, 1029, 1077, 9033, 1090, 1517, 2053, 1529, 102]),
        ("x" * 101, [101, 100, 102]),
        ("😀 smile", [101, 100, 2868, 102]),
        ("é", [101, 1041, 102]),
        (" \n\t ", [101, 102]),
    ],
)
def test_a_text_becomes_the_numbers_of_the_reference(tokens: WordPiece, text: str, expected: list[int]) -> None:
    assert tokens.encode(text, 64) == expected


def test_a_long_text_is_cut_and_still_ends(tokens: WordPiece) -> None:
    encoded = tokens.encode("word " * 500, 16)
    assert len(encoded) == 16
    assert (encoded[0], encoded[-1]) == (101, 102)
