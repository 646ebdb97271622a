import pytest

from aster.memory.retrieval.intent import WEIGHTS, intent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who works at Google", "factual"),
        ("how to fix this error", "procedural"),
        ("", "contextual"),
        ("thanks, go on", "contextual"),
        ("how did he name it", "contextual"),
    ],
)
def test_intent_is_the_majority_of_telling_words(text: str, expected: str) -> None:
    assert intent(text) == expected


def test_each_intent_believes_its_own_stores_most() -> None:
    best = {kind: max(weights, key=lambda store: weights[store]) for kind, weights in WEIGHTS.items()}
    assert best == {"factual": "social", "procedural": "lessons", "contextual": "knowledge"}
